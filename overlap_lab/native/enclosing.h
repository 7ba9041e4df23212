// The innermost row around a moment, such as the Python frame around a call.
#pragma once

#include <cstdint>

#include "column.h"
#include "integer_column.h"
#include "trace_view.h"

namespace overlap_native {

/// The columns of a trace, ordered by start.
struct RowsOnThreads {
  IntegerColumn kind;
  const int32_t* thread;
  const int64_t *start_ns, *end_ns;
  size_t size;
};

/// Moments on threads, in any order.
struct Moments {
  const int64_t *thread, *start_ns, *end_ns;
  size_t size;
};

/// For each moment the last row of a kind, on its thread, that starts no later and ends no earlier;
/// -1 where none does. A moment ends no earlier than it starts.
Column<int64_t> innermost_rows(const RowsOnThreads& rows, uint8_t kind, const Moments& moments);

/// Rows that may lie around a moment, with the number of their thread among the asked ones.
struct NearRows {
  Column<int32_t> row, thread;
};

/// The rows of some kinds, on the threads of the moments, from whose start to whose end a moment
/// begins. `thread_rows` has one row of each thread; the trace is ordered by start.
NearRows rows_near(const TraceView& trace, uint64_t kinds, const int64_t* thread_rows,
                   size_t threads, const Moments& moments);

}  // namespace overlap_native
