// Rows that are alike in several columns of codes.
#pragma once

#include <cstdint>
#include <vector>

#include "column.h"

namespace overlap_native {

/// A column whose codes are from -1 to below `count`.
struct CodeColumn {
  const int32_t* codes;
  uint64_t count;
};

struct AlikeRows {
  Column<int64_t> first;  // of all rows alike
  Column<int32_t> place;  // per row of its like in `first`
};

/// In the order in which they come. The counts, each plus 1, have a product below 2^63.
AlikeRows alike_rows(const std::vector<CodeColumn>& columns, size_t rows);

}  // namespace overlap_native
