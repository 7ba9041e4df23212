// Calls that may wait but are too short to be asked: how many found nothing outstanding.
#pragma once

#include <cstdint>
#include <vector>

#include "alike.h"
#include "column.h"
#include "trace_view.h"

namespace overlap_native {

/// Which calls wait, as sets of bits by their numbers in `schema.py`.
struct WaitRules {
  uint64_t always, may;
  uint64_t whole_device;  // calls that no stream bounds
  int64_t floor_ns;       // a may-wait call that lasts no longer is short
  int16_t absent_device;
  int64_t absent_stream;
};

struct WaitingCalls {
  const int32_t *host, *thread, *outer, *last_op;
  const uint8_t* captured;  // null: none is
  const int32_t* place;     // of ops
  const int64_t* device;    // of places
  size_t size;
};

/// Calls that could wait: those to be asked, and the short ones by kind.
struct SortedCalls {
  Column<int32_t> asked;  // always-waits and long may-waits, by index of the host call
  Column<int32_t> kind;   // per host call: number of its kind; -1 for one that is not short
  Alike kinds;            // thread, device and stream
};
SortedCalls sorted_calls(const TraceView& trace, const WaitRules& rules, const WaitingCalls& calls);

/// Ops of one scope: their enqueue starts, sorted, and the latest end among the first i of them.
struct ReachOfScope {
  const int64_t *enqueue, *reach;
  size_t size;
  bool from_null;  // a blocking stream that the null stream brings in
};

/// Per name, the first that of calls without one: how many short calls found nothing outstanding at
/// their start, and how long the longest of these was.
struct FreeCalls {
  std::vector<int64_t> count, longest;
};
/// `scopes` are those of each kind. `own_end` is per host call the end of the last op that it made,
/// the least number for none; only asked where a scope is `from_null`.
FreeCalls free_calls(const TraceView& trace, const int32_t* host, const int32_t* kind, size_t calls,
                     const std::vector<std::vector<ReachOfScope>>& scopes, const int64_t* own_end,
                     size_t names);

}  // namespace overlap_native
