// Where the heads of a tensor lie: behind each other inside a row, or each with all its rows.
#pragma once

#include <cstdint>
#include <vector>

namespace hip_ext_test {

// [batch, rows, heads, columns] (bshd) or [batch, heads, rows, columns] (bhsd).
enum class Layout { rows_first, heads_first };

struct TensorSizes {
  int batch;
  int rows;  // of a sequence
  int heads;
  int columns;
};

// The same values in the other layout, from rows_first and back to it.
std::vector<uint16_t> from_rows_first(std::vector<uint16_t> tensor, TensorSizes sizes,
                                      Layout layout);
std::vector<uint16_t> to_rows_first(std::vector<uint16_t> tensor, TensorSizes sizes, Layout layout);

}  // namespace hip_ext_test
