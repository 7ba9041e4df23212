// The workspace of one backward: where its parts lie, how large it is, and its metadata.
//
//   [nsplits int32][offsets int64] padded to 4096 bytes, then [dq_acc fp32]
//
// nsplits says into how many buffers the dq of a sequence is split; it is computed here, once, from
// physical lengths, and every kernel reads it from the metadata. offsets count fp32 elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"

namespace hip_ext {

constexpr size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

constexpr int64_t ceil_div(int64_t value, int64_t step) { return (value + step - 1) / step; }

// Everything about the workspace that the host knows without reading device memory.
struct WorkspacePlan {
  int32_t batch;
  int32_t nhead_q;
  int32_t hdim_q;
  int32_t k_tile;         // keys of one dq_dk_dv tile
  int64_t rows_q;         // of the whole tensor, padding included
  int64_t rows_k;         // group mode: likewise
  bool reads_borders;     // group mode
  bool per_item;          // group mode and deterministic: one nsplits and one offset per sequence
  bool needs_zero;        // dq_acc must be zero before dq_dk_dv
  int32_t fixed_nsplits;  // nsplits[0] unless per_item
  int32_t
      tiles_per_split;   // batch mode, deterministic: consecutive (head, tile) pairs of one worker
  int64_t dq_acc_bound;  // fp32 elements that are enough for all borders

  size_t offsets_at() const { return round_up(4 * size_t(per_item ? batch : 1), 16); }
  size_t metadata_bytes() const {
    return round_up(offsets_at() + round_up(8 * size_t(per_item ? batch : 0), 16), 4096);
  }
  size_t bound_bytes() const { return metadata_bytes() + 4 * size_t(dq_acc_bound); }
};

static_assert(std::is_trivially_copyable<WorkspacePlan>::value, "it lies in pinned blocks");

// Keys of one tile: 128 up to head size 128, then 64.
int32_t k_tile_for(int32_t hdim_q, int32_t hdim_v);

// Workers of the deterministic batch mode take consecutive (sequence, head, tile) jobs. Gives the
// largest number of workers that one head meets, for `tiles` tiles a head.
int32_t splits_per_head(int64_t tiles, int64_t tiles_per_split);

// `num_cus` is the device's number of compute units, asked for beforehand.
WorkspacePlan plan_workspace(const FmhaBwdParams& params, int num_cus);

enum class PackFailure : int32_t {
  none,
  borders,  // not starting with 0, decreasing, or beyond the tensor
  bound,    // more dq_acc than there is: max_seqlen_k (or its padded form) was too small
};

struct PackResult {
  PackFailure failure;
  int64_t dq_acc_elements;
};

namespace detail {

HIP_EXT_HOST_DEVICE inline bool borders_are_valid(const int32_t* start, int32_t batch,
                                                  int64_t rows) {
  bool valid = start[0] == 0 && start[batch] <= rows;
  for (int32_t item = 0; item < batch; ++item) valid = valid && start[item] <= start[item + 1];
  return valid;
}

}  // namespace detail

// Writes nsplits and offsets; host function, sync mode and metadata kernel share it. Never throws.
// After a failure every nsplits is -1, which makes the kernels skip dk and dv and fill dq with NaN.
// `capacity` is the room for dq_acc in elements. The borders are not read in batch mode.
HIP_EXT_HOST_DEVICE inline PackResult pack_metadata(const WorkspacePlan& plan,
                                                    const int32_t* seqstart_q,
                                                    const int32_t* seqstart_k, int64_t capacity,
                                                    int32_t* nsplits, int64_t* offsets) {
  if (!plan.reads_borders) {
    nsplits[0] = plan.fixed_nsplits;
    return {PackFailure::none, plan.dq_acc_bound};
  }
  PackFailure failure = PackFailure::none;
  int64_t total = 0;
  const int64_t row_elements = int64_t(plan.nhead_q) * plan.hdim_q;
  if (!detail::borders_are_valid(seqstart_q, plan.batch, plan.rows_q) ||
      !detail::borders_are_valid(seqstart_k, plan.batch, plan.rows_k)) {
    failure = PackFailure::borders;
  } else if (plan.per_item) {
    for (int32_t item = 0; item < plan.batch; ++item) {
      const int64_t keys = seqstart_k[item + 1] - seqstart_k[item];
      nsplits[item] = int32_t((keys + plan.k_tile - 1) / plan.k_tile);
      offsets[item] = total;
      total += row_elements * nsplits[item] * (seqstart_q[item + 1] - seqstart_q[item]);
    }
  } else {
    nsplits[0] = plan.fixed_nsplits;
    total = row_elements * seqstart_q[plan.batch];
  }
  if (failure == PackFailure::none && total > capacity) failure = PackFailure::bound;
  if (failure != PackFailure::none) {
    for (int32_t item = 0; item < (plan.per_item ? plan.batch : 1); ++item) {
      nsplits[item] = -1;
      if (plan.per_item) offsets[item] = 0;
    }
  }
  return {failure, total};
}

// The workspace as the kernels see it.
struct WorkspaceView {
  const int32_t* nsplits;
  const int64_t* offsets;
  float* dq_acc;
  int32_t k_tile;
  int32_t tiles_per_split;
  bool per_item;
};

WorkspaceView view_workspace(const WorkspacePlan& plan, void* workspace);

}  // namespace hip_ext
