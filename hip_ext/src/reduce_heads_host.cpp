#include <vector>

#include "hip_ext/reduce_heads.h"
#include "tensor_rows.h"

namespace hip_ext {
namespace {

// The kernel. One row and key head at a time, so that a group is read from one piece of memory.
void fmha_bwd_reduce_heads(ReduceHeadsParams p) {
  std::vector<float> sum(p.columns);
  std::vector<float> head(p.columns);
  int64_t at = 0;
  for (int64_t item = 0; item < p.batch; ++item) {
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int32_t head_k = 0; head_k < p.nhead_k; ++head_k) {
        sum.assign(p.columns, 0.0f);
        for (int32_t member = 0; member < p.group; ++member, at += p.columns) {
          load_row(p.expanded, at, p.dtype, p.columns, head.data());
          for (int32_t c = 0; c < p.columns; ++c) sum[c] += head[c];
        }
        const TensorStrides& stride = p.reduced_stride;
        store_row(sum.data(), p.columns, p.dtype, p.reduced,
                  item * stride.batch + row * stride.row + head_k * stride.head);
      }
    }
  }
}

}  // namespace

void reduce_heads(const ReduceHeadsParams& params, hipStream_t stream) {
  GPU_LAUNCH(fmha_bwd_reduce_heads, dim3(uint32_t(params.rows), uint32_t(params.nhead_k)), dim3(64),
             /*lds_bytes=*/0, stream, params);
}

}  // namespace hip_ext
