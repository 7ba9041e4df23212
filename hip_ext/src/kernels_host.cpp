// The kernels around dq_dk_dv on the CPU: each runs once per launch and walks the whole grid.
#include <algorithm>
#include <cmath>

#include "indexing.h"
#include "kernels.h"
#include "tensor_rows.h"

namespace hip_ext {

namespace {

constexpr int kMaxHeadSize = 256;

// The grids that the GPU kernels have: traces of all targets then look alike.
constexpr int kRowsPerBlock = 64;
constexpr int kThreadsPerBlock = 256;

dim3 row_grid(const FmhaBwdParams& p) {
  const int32_t longest = p.mode == SequenceMode::batch ? p.seqlen_q : p.max_seqlen_q;
  return dim3(uint32_t(ceil_div(std::max(longest, 1), kRowsPerBlock)), uint32_t(p.nhead_q),
              uint32_t(p.batch));
}

void fmha_bwd_write_metadata(const WorkspacePlan& plan, const int32_t* seqstart_q,
                             const int32_t* seqstart_k, int32_t* nsplits, int64_t* offsets) {
  pack_metadata(plan, seqstart_q, seqstart_k, plan.dq_acc_bound, nsplits, offsets);
}

void fmha_bwd_dot_do_o(const FmhaBwdParams& p) {
  float out[kMaxHeadSize];
  float dout[kMaxHeadSize];
  for (int32_t item = 0; item < p.batch; ++item) {
    const SequenceRows rows = query_rows(p, item);
    for (int32_t head = 0; head < p.nhead_q; ++head) {
      const int64_t out_at = first_row(p, p.out_stride, item, head, rows.start);
      const int64_t dout_at = first_row(p, p.dout_stride, item, head, rows.start);
      float* d = p.softmax_d + first_row(p, p.softmax_d_stride, item, head, rows.start);
      for (int32_t row = 0; row < rows.logical; ++row) {
        load_row(p.out, out_at + row * p.out_stride.row, p.dtype, p.hdim_v, out);
        load_row(p.dout, dout_at + row * p.dout_stride.row, p.dtype, p.hdim_v, dout);
        float lanes[8] = {};  // head sizes are multiples of 8; eight sums make vector code
        for (int32_t c = 0; c < p.hdim_v; c += 8) {
          for (int32_t lane = 0; lane < 8; ++lane) lanes[lane] += out[c + lane] * dout[c + lane];
        }
        float sum = 0;
        for (float lane : lanes) sum += lane;
        d[row] = sum;
      }
    }
  }
}

void fill_dq_with_nan(const FmhaBwdParams& p) {
  float nan[kMaxHeadSize];
  std::fill_n(nan, p.hdim_q, std::nanf(""));
  for (int32_t head = 0; head < p.nhead_q; ++head) {
    for (int64_t row = 0; row < p.seqlen_q; ++row) {
      store_row(nan, p.hdim_q, p.dtype, p.dq, head * p.dq_stride.head + row * p.dq_stride.row);
    }
  }
}

// How many of the splits hold something. Deterministic group mode: the tiles of the logical keys,
// as nobody writes, and without a mask nobody clears, the splits of padding.
int32_t written_splits(const FmhaBwdParams& p, const WorkspaceView& workspace, int32_t item) {
  const int32_t splits = splits_of(workspace, item);
  if (!workspace.per_item) return splits;
  return std::min(splits, int32_t(ceil_div(key_rows(p, item).logical, workspace.k_tile)));
}

void convert_head(const FmhaBwdParams& p, const WorkspaceView& workspace, int32_t item,
                  int32_t head) {
  float sum[kMaxHeadSize];
  const SequenceRows rows = query_rows(p, item);
  const int32_t splits = splits_of(workspace, item);
  const int32_t written = written_splits(p, workspace, item);
  const float* dq_acc = dq_acc_of(p, workspace, item, head, splits, rows);
  const int64_t split_elements = int64_t(rows.physical) * p.hdim_q;
  const int64_t dq_at = first_row(p, p.dq_stride, item, head, rows.start);
  for (int32_t row = 0; row < rows.logical; ++row) {
    std::fill_n(sum, p.hdim_q, 0.0f);
    for (int32_t split = 0; split < written; ++split) {
      const float* part = dq_acc + split * split_elements + int64_t(row) * p.hdim_q;
      for (int32_t c = 0; c < p.hdim_q; ++c) sum[c] += part[c];
    }
    store_row(sum, p.hdim_q, p.dtype, p.dq, dq_at + row * p.dq_stride.row);
  }
}

void fmha_bwd_convert_dq(const FmhaBwdParams& p, const WorkspaceView& workspace) {
  if (splits_of(workspace, 0) < 0) return fill_dq_with_nan(p);
  for (int32_t item = 0; item < p.batch; ++item) {
    for (int32_t head = 0; head < p.nhead_q; ++head) convert_head(p, workspace, item, head);
  }
}

}  // namespace

void launch_write_metadata(const WorkspacePlan& plan, const FmhaBwdParams& params, void* workspace,
                           hipStream_t stream) {
  char* base = static_cast<char*>(workspace);
  GPU_LAUNCH(fmha_bwd_write_metadata, dim3(1), dim3(1), /*lds_bytes=*/0, stream, plan,
             params.seqstart_q, params.seqstart_k, reinterpret_cast<int32_t*>(base),
             reinterpret_cast<int64_t*>(base + plan.offsets_at()));
}

void launch_dot_do_o(const FmhaBwdParams& params, hipStream_t stream) {
  GPU_LAUNCH(fmha_bwd_dot_do_o, row_grid(params), dim3(kRowsPerBlock), /*lds_bytes=*/0, stream,
             params);
}

void launch_convert_dq(const FmhaBwdParams& params, const WorkspaceView& workspace,
                       hipStream_t stream) {
  GPU_LAUNCH(fmha_bwd_convert_dq, row_grid(params), dim3(kThreadsPerBlock), /*lds_bytes=*/0, stream,
             params, workspace);
}

}  // namespace hip_ext
