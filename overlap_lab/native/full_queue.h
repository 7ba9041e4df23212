// Launches that were slow because the queue was full.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"
#include "trace_view.h"

namespace overlap_native {

/// When entries of a queue came, or when they went, in order.
struct Moved {
  const int64_t* time;
  size_t size;
};
struct Launches {
  const int32_t* host;  // the row of each host call
  const int32_t* call;  // the launches among these
  size_t size;
  const uint8_t* slow;  // whether each host call is
};

/// The slow launches that began at a depth of the queue from which on at least two, and three
/// quarters, of the launches were slow.
Column<int32_t> mostly_slow(const TraceView& trace, const Launches& launches, Moved entered,
                            Moved left);

}  // namespace overlap_native
