// The kernels around dq_dk_dv on a GPU. They walk on in strides of the grid, so that a max_seqlen_q
// that was too small, or a batch beyond the limits of a grid, costs time and not rows.
#include <algorithm>

#include "device.h"
#include "half.h"
#include "hip_ext/reduce_heads.h"
#include "indexing.h"
#include "kernels.h"

namespace hip_ext {

namespace {

constexpr int kRowsPerBlock = 64;
constexpr int kThreads = 256;
constexpr uint32_t kMostBlocks = 65535;  // of a grid's second and third dimension

uint32_t blocks(int64_t wanted) {
  return uint32_t(std::min<int64_t>(std::max<int64_t>(wanted, 1), kMostBlocks));
}

dim3 row_grid(const FmhaBwdParams& p) {
  const int32_t longest = p.mode == SequenceMode::batch ? p.seqlen_q : p.max_seqlen_q;
  return dim3(blocks(ceil_div(longest, kRowsPerBlock)), blocks(p.nhead_q), blocks(p.batch));
}

bool in_steps(const void* tensor, const TensorStrides& stride, int64_t step) {
  return reinterpret_cast<uintptr_t>(tensor) % (2 * step) == 0 && stride.batch % step == 0 &&
         stride.row % step == 0 && stride.head % step == 0;
}

// Borders that fit are packed from shared memory: one thread reads them in turn, and each read from
// the device's memory would cost it half a microsecond.
constexpr int kStagedItems = 1024;

__global__ void __launch_bounds__(kThreads)
    fmha_bwd_write_metadata(WorkspacePlan plan, const int32_t* seqstart_q,
                            const int32_t* seqstart_k, int32_t* nsplits, int64_t* offsets) {
  __shared__ int32_t staged_q[kStagedItems + 1];
  __shared__ int32_t staged_k[kStagedItems + 1];
  const bool staged = plan.reads_borders && plan.batch <= kStagedItems;
  for (int32_t i = threadIdx.x; staged && i <= plan.batch; i += kThreads) {
    staged_q[i] = seqstart_q[i];
    staged_k[i] = seqstart_k[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  pack_metadata(plan, staged ? staged_q : seqstart_q, staged ? staged_k : seqstart_k,
                plan.dq_acc_bound, nsplits, offsets);
}

// Eight threads share a row.
constexpr int kLanes = 8;
constexpr int kRowsAtOnce = kThreads / kLanes;

template <typename Half>
__device__ float part_of_dot(const FmhaBwdParams& p, const uint16_t* out, const uint16_t* dout,
                             int32_t lane, bool aligned) {
  float sum = 0;
  for (int32_t c = lane * 8; c < p.hdim_v; c += kLanes * 8) {
    float left[8], right[8];
    unpack<Half>(read_words<8>(out + c, aligned), left);
    unpack<Half>(read_words<8>(dout + c, aligned), right);
#pragma unroll
    for (int e = 0; e < 8; ++e) sum += left[e] * right[e];
  }
  return sum;
}

template <typename Half>
__device__ void dot_rows(const FmhaBwdParams& p, int32_t item, int32_t head, bool aligned,
                         float* parts) {
  const SequenceRows rows = query_rows(p, item);
  const uint16_t* out =
      static_cast<const uint16_t*>(p.out) + first_row(p, p.out_stride, item, head, rows.start);
  const uint16_t* dout =
      static_cast<const uint16_t*>(p.dout) + first_row(p, p.dout_stride, item, head, rows.start);
  float* d = p.softmax_d + first_row(p, p.softmax_d_stride, item, head, rows.start);
  const int32_t lane = threadIdx.x % kLanes, own = threadIdx.x / kLanes;
  for (int64_t first = int64_t(blockIdx.x) * kRowsPerBlock; first < rows.logical;
       first += int64_t(gridDim.x) * kRowsPerBlock) {
    for (int32_t step = 0; step < kRowsPerBlock; step += kRowsAtOnce) {
      const int64_t row = first + step + own;
      const bool real = row < rows.logical;
      parts[threadIdx.x] = real ? part_of_dot<Half>(p, out + row * p.out_stride.row,
                                                    dout + row * p.dout_stride.row, lane, aligned)
                                : 0.0f;
      __syncthreads();
      if (real && lane == 0) {
        float sum = 0;
        for (int i = 0; i < kLanes; ++i) sum += parts[threadIdx.x + i];
        d[row] = sum;
      }
      __syncthreads();
    }
  }
}

template <typename Half>
__global__ void __launch_bounds__(kThreads) fmha_bwd_dot_do_o(FmhaBwdParams p, bool aligned) {
  __shared__ float parts[kThreads];
  for (int32_t item = blockIdx.z; item < p.batch; item += gridDim.z) {
    for (int32_t head = blockIdx.y; head < p.nhead_q; head += gridDim.y) {
      dot_rows<Half>(p, item, head, aligned, parts);
    }
  }
}

// The borders are bad, so this goes by the rows of the tensor. Only group mode has borders.
template <typename Half>
__device__ void fill_dq_with_nan(const FmhaBwdParams& p, bool aligned) {
  const float nan = float_of_bits(0x7fc00000u);
  const float values[4] = {nan, nan, nan, nan};
  const Words<4> words = pack<Half>(values);
  const int32_t fours = p.hdim_q / 4;
  const int64_t all = int64_t(p.seqlen_q) * p.nhead_q * fours;
  const int64_t block = (int64_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int64_t threads = int64_t(gridDim.x) * gridDim.y * gridDim.z * kThreads;
  for (int64_t i = block * kThreads + threadIdx.x; i < all; i += threads) {
    const int64_t row = i / fours / p.nhead_q, head = i / fours % p.nhead_q;
    uint16_t* target = static_cast<uint16_t*>(p.dq) + row * p.dq_stride.row +
                       head * p.dq_stride.head + i % fours * 4;
    write_words(target, words, aligned);
  }
}

// How many of the splits hold something. Deterministic group mode: the tiles of the logical keys,
// as nobody writes, and without a mask nobody clears, the splits of padding.
__device__ int32_t written_splits(const FmhaBwdParams& p, const WorkspaceView& workspace,
                                  int32_t item, int32_t splits) {
  if (!workspace.per_item) return splits;
  const int32_t tiles = (key_rows(p, item).logical + workspace.k_tile - 1) / workspace.k_tile;
  return tiles < splits ? tiles : splits;
}

template <typename Half>
__device__ void convert_rows(const FmhaBwdParams& p, const WorkspaceView& workspace, int32_t item,
                             int32_t head, bool aligned) {
  const SequenceRows rows = query_rows(p, item);
  const int32_t splits = splits_of(workspace, item);
  const int32_t written = written_splits(p, workspace, item, splits);
  const float* dq_acc = dq_acc_of(p, workspace, item, head, splits, rows);
  const int64_t split_elements = int64_t(rows.physical) * p.hdim_q;
  uint16_t* dq = static_cast<uint16_t*>(p.dq) + first_row(p, p.dq_stride, item, head, rows.start);
  const int32_t fours = p.hdim_q / 4;
  for (int64_t first = int64_t(blockIdx.x) * kRowsPerBlock; first < rows.logical;
       first += int64_t(gridDim.x) * kRowsPerBlock) {
    for (int32_t i = threadIdx.x; i < kRowsPerBlock * fours; i += kThreads) {
      const int64_t row = first + i / fours;
      const int32_t column = i % fours * 4;
      if (row >= rows.logical) break;
      float sum[4] = {};
      for (int32_t split = 0; split < written; ++split) {
        const Float4 part = *reinterpret_cast<const Float4*>(dq_acc + split * split_elements +
                                                             row * p.hdim_q + column);
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[e] += part.value[e];
      }
      write_words(dq + row * p.dq_stride.row + column, pack<Half>(sum), aligned);
    }
  }
}

template <typename Half>
__global__ void __launch_bounds__(kThreads)
    fmha_bwd_convert_dq(FmhaBwdParams p, WorkspaceView workspace, bool aligned) {
  if (splits_of(workspace, 0) < 0) return fill_dq_with_nan<Half>(p, aligned);
  for (int32_t item = blockIdx.z; item < p.batch; item += gridDim.z) {
    for (int32_t head = blockIdx.y; head < p.nhead_q; head += gridDim.y) {
      convert_rows<Half>(read_here(p), read_here(workspace), item, head, aligned);
    }
  }
}

// The sequence that a row of the tensor lies in: the last one that starts at or before it.
__device__ int32_t item_of(const ReduceHeadsParams& p, int64_t row) {
  int32_t low = 0, high = p.batch;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (p.seqstart[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

template <typename Half>
__global__ void __launch_bounds__(kThreads)
    fmha_bwd_reduce_heads(ReduceHeadsParams p, int64_t all, bool aligned) {
  const int32_t fours = p.columns / 4;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < all;
       i += int64_t(gridDim.x) * kThreads) {
    const int32_t column = int32_t(i % fours) * 4;
    const int32_t head_k = int32_t(i / fours % p.nhead_k);
    const int64_t row = i / fours / p.nhead_k;  // of all rows
    int64_t target = row * p.reduced_stride.row;
    if (p.seqstart == nullptr) {
      target = row / p.rows * p.reduced_stride.batch + row % p.rows * p.reduced_stride.row;
    } else {
      const SequenceRows own =
          sequence_rows(item_of(p, row), p.seqstart, p.cu_seqlen, nullptr, p.rows);
      if (row < own.start || row >= own.start + own.logical) continue;
    }
    const uint16_t* source = static_cast<const uint16_t*>(p.expanded) +
                             (row * p.nhead_k + head_k) * p.group * p.columns + column;
    float sum[4] = {}, head[4];
    for (int32_t member = 0; member < p.group; ++member) {
      unpack<Half>(read_words<4>(source + int64_t(member) * p.columns, aligned), head);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += head[e];
    }
    write_words(
        static_cast<uint16_t*>(p.reduced) + target + head_k * p.reduced_stride.head + column,
        pack<Half>(sum), aligned);
  }
}

}  // namespace

void launch_write_metadata(const WorkspacePlan& plan, const FmhaBwdParams& params, void* workspace,
                           hipStream_t stream) {
  char* base = static_cast<char*>(workspace);
  const int threads = plan.reads_borders ? kThreads : 1;
  GPU_LAUNCH(fmha_bwd_write_metadata, dim3(1), dim3(threads), /*lds_bytes=*/0, stream, plan,
             params.seqstart_q, params.seqstart_k, reinterpret_cast<int32_t*>(base),
             reinterpret_cast<int64_t*>(base + plan.offsets_at()));
}

void launch_dot_do_o(const FmhaBwdParams& p, hipStream_t stream) {
  const bool aligned = in_steps(p.out, p.out_stride, 8) && in_steps(p.dout, p.dout_stride, 8);
  const auto kernel = p.dtype == DataType::bf16 ? fmha_bwd_dot_do_o<Bf16> : fmha_bwd_dot_do_o<Fp16>;
  GPU_LAUNCH(kernel, row_grid(p), dim3(kThreads), /*lds_bytes=*/0, stream, p, aligned);
}

void launch_convert_dq(const FmhaBwdParams& p, const WorkspaceView& workspace, hipStream_t stream) {
  const bool aligned = in_steps(p.dq, p.dq_stride, 4);
  const auto kernel =
      p.dtype == DataType::bf16 ? fmha_bwd_convert_dq<Bf16> : fmha_bwd_convert_dq<Fp16>;
  GPU_LAUNCH(kernel, row_grid(p), dim3(kThreads), /*lds_bytes=*/0, stream, p, workspace, aligned);
}

void reduce_heads(const ReduceHeadsParams& p, hipStream_t stream) {
  const int64_t rows = int64_t(p.seqstart == nullptr ? p.batch : 1) * p.rows;
  const int64_t all = rows * p.nhead_k * (p.columns / 4);
  if (all == 0) return;
  const bool aligned =
      in_steps(p.reduced, p.reduced_stride, 4) && reinterpret_cast<uintptr_t>(p.expanded) % 8 == 0;
  const auto kernel =
      p.dtype == DataType::bf16 ? fmha_bwd_reduce_heads<Bf16> : fmha_bwd_reduce_heads<Fp16>;
  GPU_LAUNCH(kernel, dim3(blocks(ceil_div(all, kThreads))), dim3(kThreads), /*lds_bytes=*/0, stream,
             p, all, aligned);
}

}  // namespace hip_ext
