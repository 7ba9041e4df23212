// Where numbers lie among sorted ones, and which rows have one of a few values.
#pragma once

#include <cstdint>

#include "column.h"
#include "integer_column.h"

namespace overlap_native {

enum class Side : uint8_t { left, right };

/// For each number how many of the sorted ones are less, or for Side::right not greater. Numbers
/// that come in order, or nearly so, are found where the one before was.
void positions(const int64_t* sorted, size_t size, const int64_t* asked, size_t count, Side side,
               int64_t* found);

/// For each query the last index in [low, high) whose value is below its limit; low - 1 where none.
struct BelowQueries {
  const int64_t *low, *high, *limit;
  size_t size;
};
void last_below(const int64_t* values, size_t size, const BelowQueries& queries, int64_t* found);

/// Whether each value is one of the numbers up to 63 whose bits are set.
void are_members(const IntegerColumn& column, uint64_t members, bool* found);

/// The rows whose value is a member, in order.
Column<int64_t> rows_among(const IntegerColumn& column, uint64_t members);

}  // namespace overlap_native
