// Where a sequence, a head and a split lie in memory: the same for every kernel and target.
#pragma once

#include <cstdint>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"
#include "hip_ext/workspace.h"

namespace hip_ext {

// The rows of one sequence on one axis: [start, start + physical) of the tensor, of which the first
// `logical` are real and the others padding.
struct SequenceRows {
  int64_t start;  // 0 in batch mode, where the batch stride leads to the sequence
  int32_t physical;
  int32_t logical;
};

namespace detail {

HIP_EXT_HOST_DEVICE inline int32_t clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : (value > high ? high : value);
}

}  // namespace detail

// Bad borders are clamped to the tensor: dot_do_o runs even when the pack has refused them.
HIP_EXT_HOST_DEVICE inline SequenceRows sequence_rows(int32_t item, const int32_t* seqstart,
                                                      const int32_t* cu_seqlen,
                                                      const int32_t* seqlen, int32_t rows) {
  if (seqstart == nullptr) return {0, rows, rows};
  const int32_t start = detail::clamp(seqstart[item], 0, rows);
  const int32_t physical = detail::clamp(seqstart[item + 1], start, rows) - start;
  int32_t logical = physical;
  if (cu_seqlen != nullptr) logical = cu_seqlen[item + 1] - cu_seqlen[item];
  if (seqlen != nullptr) logical = seqlen[item];
  return {start, physical, detail::clamp(logical, 0, physical)};
}

HIP_EXT_HOST_DEVICE inline SequenceRows query_rows(const FmhaBwdParams& p, int32_t item) {
  return sequence_rows(item, p.seqstart_q, p.cu_seqlen_q, p.seqlen_q_ptr, p.seqlen_q);
}

HIP_EXT_HOST_DEVICE inline SequenceRows key_rows(const FmhaBwdParams& p, int32_t item) {
  return sequence_rows(item, p.seqstart_k, p.cu_seqlen_k, p.seqlen_k_ptr, p.seqlen_k);
}

// Element index of the first row of a sequence and head.
HIP_EXT_HOST_DEVICE inline int64_t first_row(const FmhaBwdParams& p, const TensorStrides& stride,
                                             int32_t item, int32_t head, int64_t start) {
  const int64_t sequence = p.mode == SequenceMode::batch ? item * stride.batch : start * stride.row;
  return sequence + head * stride.head;
}

HIP_EXT_HOST_DEVICE inline int64_t first_row(const FmhaBwdParams& p, const RowStatStrides& stride,
                                             int32_t item, int32_t head, int64_t start) {
  const int64_t sequence = p.mode == SequenceMode::batch ? item * stride.batch : start;
  return sequence + head * stride.head;
}

// Negative: the pack has failed.
HIP_EXT_HOST_DEVICE inline int32_t splits_of(const WorkspaceView& workspace, int32_t item) {
  return workspace.nsplits[workspace.per_item ? item : 0];
}

// The dq_acc of one sequence and head is [splits][physical query rows][hdim_q].
HIP_EXT_HOST_DEVICE inline float* dq_acc_of(const FmhaBwdParams& p, const WorkspaceView& workspace,
                                            int32_t item, int32_t head, int32_t splits,
                                            const SequenceRows& rows) {
  const int64_t split_elements = int64_t(rows.physical) * p.hdim_q;
  const int64_t head_elements = splits * split_elements;
  int64_t sequence = rows.start * p.nhead_q * p.hdim_q;
  if (p.mode == SequenceMode::batch) sequence = item * p.nhead_q * head_elements;
  if (workspace.per_item) sequence = workspace.offsets[item];
  return workspace.dq_acc + sequence + head * head_elements;
}

// The split that a tile of keys adds its dq to.
HIP_EXT_HOST_DEVICE inline int32_t split_of_tile(const FmhaBwdParams& p,
                                                 const WorkspaceView& workspace, int32_t item,
                                                 int32_t head, int32_t tile) {
  if (workspace.per_item) return tile;
  if (p.mode == SequenceMode::group || p.accumulation == Accumulation::accumulate) return 0;
  const int64_t tiles = (p.seqlen_k + workspace.k_tile - 1) / workspace.k_tile;
  const int64_t first_job = (int64_t(item) * p.nhead_q + head) * tiles;
  const int64_t first_worker = first_job / workspace.tiles_per_split;
  return int32_t((first_job + tile) / workspace.tiles_per_split - first_worker);
}

}  // namespace hip_ext
