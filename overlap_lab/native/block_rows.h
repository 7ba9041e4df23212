// Blocks of rows put together as the rows of one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.h"
#include "integer_column.h"

namespace overlap_native {

/// Rows that follow each other: their values, or, with codes, what `values` has in their places.
struct RowBlock {
  IntegerColumn values;
  const int32_t* codes;  // null: row i has values[i]
  size_t size;
};

/// Writes the values of blocks that follow each other to the places of their rows. Values fit.
void scatter(const std::vector<RowBlock>& blocks, const uint32_t* places, void* into, Width width);

/// A column as codes, and the distinct values in the order in which they come.
struct CodedColumn {
  Column<int32_t> codes;
  Column<int64_t> values;
};

CodedColumn coded_column(const IntegerColumn& column);

/// The distinct values of a column, in the order in which they come.
Column<int64_t> distinct_values(const IntegerColumn& column);

/// What times can be; see schema.py.
struct TimeLimits {
  int64_t earliest, latest, longest;
};

/// Whether all times are within the limits, and all durations together are below half of `latest`.
bool times_fit(const int64_t* start_ns, const int64_t* end_ns, size_t size, TimeLimits limits);

}  // namespace overlap_native
