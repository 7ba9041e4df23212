#include <vector>

#include "hip_ext/reduce_heads.h"
#include "indexing.h"
#include "tensor_rows.h"

namespace hip_ext {
namespace {

// The kernel. One row and key head at a time, so that a group is read from one piece of memory.
void fmha_bwd_reduce_heads(ReduceHeadsParams p) {
  std::vector<float> sum(p.columns);
  std::vector<float> head(p.columns);
  for (int32_t item = 0; item < p.batch; ++item) {
    const SequenceRows own = sequence_rows(item, p.seqstart, p.cu_seqlen, nullptr, p.rows);
    const int64_t before = p.seqstart == nullptr ? int64_t(item) * p.rows : 0;
    for (int64_t row = own.start; row < own.start + own.logical; ++row) {
      int64_t at = (before + row) * p.nhead_k * p.group * p.columns;
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
