// The queued product on GPUs: a block of 256 threads makes a tile of 64 x 64, each thread 4 x 4 of
// it.
#include "product.h"

namespace hip_ext_bench {

namespace {

constexpr int kDepth = 16;
constexpr int kEach = 4;

__global__ void __launch_bounds__(256)
    queued_product(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kDepth][kProductStep];
  __shared__ float b_tile[kDepth][kProductStep];
  const int thread = int(threadIdx.x);
  const int row0 = int(blockIdx.y) * kProductStep, column0 = int(blockIdx.x) * kProductStep;
  const int own_row = thread / 16 * kEach, own_column = thread % 16 * kEach;
  float sum[kEach][kEach] = {};
  for (int l = 0; l < n; l += kDepth) {
    for (int i = thread; i < kDepth * kProductStep; i += 256) {
      a_tile[i % kDepth][i / kDepth] = a[size_t(row0 + i / kDepth) * n + l + i % kDepth];
      b_tile[i / kProductStep][i % kProductStep] =
          b[size_t(l + i / kProductStep) * n + column0 + i % kProductStep];
    }
    __syncthreads();
    for (int depth = 0; depth < kDepth; ++depth) {
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          sum[i][j] += a_tile[depth][own_row + i] * b_tile[depth][own_column + j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      c[size_t(row0 + own_row + i) * n + column0 + own_column + j] = sum[i][j];
    }
  }
}

}  // namespace

void launch_product(const float* a, const float* b, float* c, int n, hipStream_t stream) {
  const unsigned blocks = unsigned(n / kProductStep);
  GPU_LAUNCH(queued_product, dim3(blocks, blocks), dim3(256), /*lds_bytes=*/0, stream, a, b, c, n);
}

}  // namespace hip_ext_bench
