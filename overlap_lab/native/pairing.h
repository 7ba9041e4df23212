// Which enqueue call made which device op, and what lies around what on a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"
#include "integer_column.h"
#include "key_column.h"

namespace overlap_native {

/// The rows of calls, then those of ops, with the columns that both are paired by and their starts.
struct PairedRows {
  std::vector<IntegerColumn> keys;
  const int64_t* start_ns;  // of every row of the columns
  Rows rows;
  size_t calls;  // how many of `rows` are calls
};

/// For each op the row of the latest call of equal keys that starts before it, else of the first
/// such call; -1 where no call has its keys.
Column<int64_t> calls_of_ops(const PairedRows& paired, const std::function<void()>& interrupted);

struct GroupedIntervals {
  const int64_t *group, *start, *end;
  size_t size;
};

/// For each interval the index of the outermost one of its group around it, maybe itself.
Column<int64_t> outermost(const GroupedIntervals& intervals,
                          const std::function<void()>& interrupted);

}  // namespace overlap_native
