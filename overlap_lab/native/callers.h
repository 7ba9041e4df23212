// The host calls that device rows are linked to while a file is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"
#include "integer_column.h"

namespace overlap_native {

/// Columns of all rows, as a loader has gathered them.
struct LinkedRows {
  const uint8_t* kind;
  const uint64_t* correlation;  // 0: linked to nothing
  IntegerColumn part;
  const int32_t* process;
  const int64_t* start_ns;
  size_t size;
  const uint32_t* added;  // the order in which rows were added; null for that of the columns
};

struct CallKind {
  uint8_t kind;            // of rows that are calls
  int32_t absent_process;  // of rows whose process is unknown
};

/// For each of some rows the call of its id, part and process that started last before it or with
/// it, of several the one added last, else the first; -1 for none. Processes count only where those
/// of all calls and rows with an id are known. The rows are no calls.
Column<int64_t> callers_of(const LinkedRows& rows, CallKind call, const int64_t* wanted,
                           size_t count);

}  // namespace overlap_native
