// The queued product on the CPU: runs once a launch and walks the whole matrix.
#include "product.h"

namespace hip_ext_bench {

namespace {

void queued_product(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    float* row = c + size_t(i) * n;
    for (int j = 0; j < n; ++j) row[j] = 0;
    for (int l = 0; l < n; ++l) {
      const float factor = a[size_t(i) * n + l];
      const float* other = b + size_t(l) * n;
      for (int j = 0; j < n; ++j) row[j] += factor * other[j];
    }
  }
}

}  // namespace

void launch_product(const float* a, const float* b, float* c, int n, hipStream_t stream) {
  const uint32_t blocks = uint32_t(n / kProductStep);
  GPU_LAUNCH(queued_product, dim3(blocks, blocks), dim3(256), /*lds_bytes=*/0, stream, a, b, c, n);
}

}  // namespace hip_ext_bench
