// Sums and extremes of groups of values, and the rows of each group.
#pragma once

#include <cstdint>

#include "column.h"

namespace overlap_native {

enum class Fold : uint8_t { sum, least, most };

/// Folds each value into `into[group]`; groups are less than `groups`, as the caller has checked.
void fold_groups(const int64_t* group, const int64_t* value, size_t size, Fold fold, int64_t* into);

/// Ops of some streams, in any order.
struct StreamOps {
  const int64_t *stream, *enqueue, *end;  // streams are numbered from 0 to `streams` - 1
  size_t size, streams;
};

/// For each op the latest end among the ops of its stream that were enqueued earlier; the least
/// number where there is none.
void reach_before(const StreamOps& ops, const Column<int64_t>& by_enqueue, int64_t* reach);

/// The least and largest of some numbers; 0 and -1 of none.
struct Bounds {
  int64_t least, most;
};
Bounds bounds_of(const int64_t* numbers, size_t size);

}  // namespace overlap_native
