#include "layout.h"

#include <algorithm>

namespace hip_ext_test {

namespace {

// Swaps the two middle dimensions of [batch, outer, inner, columns].
std::vector<uint16_t> swap_middle(const std::vector<uint16_t>& tensor, int batch, int outer,
                                  int inner, int columns) {
  std::vector<uint16_t> swapped(tensor.size());
  for (int item = 0; item < batch; ++item) {
    const size_t base = size_t(item) * outer * inner;
    for (int i = 0; i < outer; ++i) {
      for (int j = 0; j < inner; ++j) {
        std::copy_n(tensor.begin() + (base + size_t(i) * inner + j) * columns, columns,
                    swapped.begin() + (base + size_t(j) * outer + i) * columns);
      }
    }
  }
  return swapped;
}

}  // namespace

std::vector<uint16_t> from_rows_first(std::vector<uint16_t> tensor, TensorSizes sizes,
                                      Layout layout) {
  if (layout == Layout::rows_first) return tensor;
  return swap_middle(tensor, sizes.batch, sizes.rows, sizes.heads, sizes.columns);
}

std::vector<uint16_t> to_rows_first(std::vector<uint16_t> tensor, TensorSizes sizes,
                                    Layout layout) {
  if (layout == Layout::rows_first) return tensor;
  return swap_middle(tensor, sizes.batch, sizes.heads, sizes.rows, sizes.columns);
}

}  // namespace hip_ext_test
