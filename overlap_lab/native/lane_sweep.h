// What one device or stream did: when it was busy, its gaps, and the ops around them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"

namespace overlap_native {

/// All device ops of a trace.
struct TimedOps {
  const int64_t *start, *end, *enqueue;
  size_t size;
};

/// The busy intervals of a lane and what lies between them: edge i begins where busy interval i - 1
/// ends and ends where busy interval i begins; the first begins with the lane, the last ends with
/// it.
struct LaneEdges {
  Column<int64_t> start, end;
  /// Per edge that is not empty: the first op to start at its end or later, of several at once the
  /// longest, then the first enqueued; and the op whose end opens it, the last enqueued of several.
  Column<int32_t> next, previous;
};

/// `index` has the lane's ops, at least one, in order; null stands for all.
LaneEdges lane_edges(const TimedOps& ops, const int32_t* index, size_t size,
                     const std::function<void()>& interrupted);

/// Per place, such as a stream, the time that its ops cover together inside [first, last).
std::vector<int64_t> busy_by_place(const TimedOps& ops, const int32_t* place, size_t places,
                                   int64_t first, int64_t last,
                                   const std::function<void()>& interrupted);

/// Ops of a set by their ends, and questions: the ops that end in [low, high) of that order.
struct EndedOps {
  const int64_t* enqueue;
  const int32_t *op, *place;  // the ops among all; the places of all
};
struct EndedQueries {
  const int64_t *low, *high, *limit;
  size_t size;
};
/// Pairs (query, place of an op that was enqueued before the query's limit), each once.
struct Touched {
  Column<int64_t> query;
  Column<int32_t> place;
};
Touched touched_places(const EndedOps& ops, const EndedQueries& queries, size_t places);

}  // namespace overlap_native
