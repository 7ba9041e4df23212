// How deep host rows are nested on their threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// Columns of a trace whose rows are ordered by start, ties by the longer first.
struct HostRows {
  const uint8_t* kind;
  const int32_t* process;
  const int64_t* thread;
  const int64_t* start_ns;
  const int64_t* end_ns;
  size_t size;
};

/// Depth of each row among the rows of its thread and kind, 0 outermost. Rows of
/// kinds whose bit is not set in `kinds` have depth 0.
void nesting_depth(const HostRows& rows, uint32_t kinds, int32_t* depth);

}  // namespace overlap_native
