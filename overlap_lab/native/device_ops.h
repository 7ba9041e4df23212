// Questions about all ops of one device: run-ahead, the launch floor, its queue, its idle time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"
#include "selection.h"
#include "trace_view.h"

namespace overlap_native {

/// All ops of a trace with their calls, and which of them are the device's.
struct DeviceOps {
  const int64_t *start, *end, *enqueue;
  const int64_t* own_start;  // as linked: when an op without a call counts as enqueued
  const int32_t *caller, *place;
  const int32_t* host;
  const int32_t* index;  // null: all are the device's
  size_t size;           // of the device
  size_t calls;          // host calls
  uint8_t graph_launch;  // what a call that makes many ops at once is
  int64_t first, last;   // only ops that start in [first, last) count

  size_t op(size_t i) const { return index == nullptr ? i : static_cast<size_t>(index[i]); }
  int64_t returned(const TraceView& trace, size_t op) const {
    if (caller[op] < 0) return own_start[op];
    return trace.end_ns[static_cast<size_t>(host[caller[op]])];
  }
  bool of_graph(const TraceView& trace, size_t op) const {
    return caller[op] >= 0 && trace.api[static_cast<size_t>(host[caller[op]])] == graph_launch;
  }
  /// Whether run-ahead is defined: the op has a call, and does not start before it.
  bool counts(size_t op) const {
    return caller[op] >= 0 && start[op] >= enqueue[op] && start[op] >= first && start[op] < last;
  }
};

/// Tenths of run-ahead, from the start or from the return of the enqueue call.
Tenths run_ahead(const TraceView& trace, const DeviceOps& ops, bool from_return,
                 const std::vector<unsigned>& tenths);

/// Tenths of run-ahead over ops that were enqueued while none of their place was outstanding; of a
/// graph's only the first one counts.
Tenths empty_run_ahead(const TraceView& trace, const DeviceOps& ops, size_t places,
                       const std::vector<unsigned>& tenths,
                       const std::function<void()>& interrupted);

/// When entries of the device's queue came and when they went, each sorted; a graph launch is one.
/// Without graphs they went as the ops ended, which `left` does not say again.
struct QueueEntries {
  Column<int64_t> entered, left;
  bool graphs = false;
};
QueueEntries queue_entries(const TraceView& trace, const DeviceOps& ops,
                           const std::function<void()>& interrupted);

struct QueuePeaks {
  int64_t depth, work;
};
/// The deepest queue, a graph launch being one entry, and the most queued work; `ends` are the ends
/// of the device's ops, sorted.
QueuePeaks queue_peaks(const TraceView& trace, const DeviceOps& ops, const int64_t* ends,
                       const std::function<void()>& interrupted);

/// Gaps with the op behind each, and what is known of their causes: 0 for nothing, else a cause
/// plus 1 for the whole gap.
struct Gaps {
  const int64_t *start, *end;
  const int32_t* next;
  const uint8_t* known;
  size_t size;
};
/// Numbers of the causes that a gap is split among, and how long a launch can take.
struct SplitRules {
  uint8_t host_late, launch, in_call, dependency;
  int64_t cap_ns;
};
struct IdlePieces {
  Column<int64_t> start, end;
  Column<uint8_t> cause;
  Column<int32_t> gap;
};
IdlePieces idle_pieces(const TraceView& trace, const DeviceOps& ops, const Gaps& gaps,
                       const SplitRules& rules);

}  // namespace overlap_native
