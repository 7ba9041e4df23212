// What is wrong with the ops and calls of a linked trace, counted in one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"
#include "linking.h"
#include "trace_view.h"

namespace overlap_native {

/// Ops with their times, and the place in which each ran: there they follow each other by start.
struct PlacedOps {
  const int64_t *start, *end;
  const int32_t* place;
  size_t size;
  std::vector<uint8_t> in_turn;  // per place: whether its ops follow each other, as on a stream
};

/// Ops that run past the start of the next one of their place.
struct Overruns {
  size_t overlaps = 0;              // by more than `jitter`, by `corrupt` at most
  Column<int32_t> asked;            // ops that run over by more, and those that none follows
  Column<int64_t> over, following;  // of these: by how much, and the next one's start
};
Overruns overruns_of(const PlacedOps& ops, int64_t jitter, int64_t corrupt,
                     const std::function<void()>& interrupted);

struct OpFaults {
  size_t unlinked = 0, inverted = 0, empty = 0, graph = 0;
};
struct FaultyOps {
  const int32_t *row, *caller;
  const int64_t *start, *end, *enqueue;
  size_t size;
  uint8_t graph_launch;
  int64_t absent_graph;
};
OpFaults op_faults(const TraceView& trace, const int32_t* host, const FaultyOps& ops);

struct CallFaults {
  size_t owners = 0, copies = 0, copies_without_op = 0;
  Column<int32_t> lost;  // calls that should own an op and do not
};
struct OwningCalls {
  const int32_t *host, *outer, *last_op;
  const uint8_t* captured;  // null: none is
  size_t size;
};
/// `owners` are the calls that can own ops; `copy` need not, as its copy may have left no record.
CallFaults call_faults(const TraceView& trace, const OwningCalls& calls, uint64_t owners,
                       uint8_t copy);

}  // namespace overlap_native
