// Columns in another order of rows, on as many threads as there are cores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "column.h"

namespace overlap_native {

constexpr size_t kGatherGrain = 1 << 16;

/// The place that each row comes to; `order` says which row comes to each place.
Column<uint32_t> places_of(const uint32_t* order, size_t size);

/// How ties in time are settled: what rows are, and which kinds come first.
struct TimedRows {
  const int64_t* start_ns;
  const int64_t* end_ns;
  const uint8_t* kind;
  std::array<uint8_t, 256> rank;  // of a kind
};

/// Rows in the order of their starts, of rows that start together the longer first, then those of
/// the lower rank, then as they are. `by_start` is their stable order by start alone.
Column<uint32_t> time_order(const TimedRows& rows, const int64_t* by_start, size_t size);

}  // namespace overlap_native
