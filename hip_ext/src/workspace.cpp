#include "hip_ext/workspace.h"

#include <algorithm>

namespace hip_ext {

namespace {

// The longest physical key length that sequence borders can hold, as far as the host knows.
int32_t longest_keys(const FmhaBwdParams& params) {
  if (params.mode == SequenceMode::batch) return params.seqlen_k;
  if (params.max_seqlen_k_padded > 0) return params.max_seqlen_k_padded;
  // max_seqlen_k is a logical length: padding may make a sequence longer than that.
  const bool padded = params.cu_seqlen_k != nullptr || params.seqlen_k_ptr != nullptr;
  return padded ? params.seqlen_k : params.max_seqlen_k;
}

}  // namespace

int32_t k_tile_for(int32_t hdim_q, int32_t hdim_v) {
  return std::max(hdim_q, hdim_v) <= 128 ? 128 : 64;
}

int32_t splits_per_head(int64_t tiles, int64_t tiles_per_split) {
  if (tiles == 0) return 1;
  if (tiles % tiles_per_split == 0) return int32_t(tiles / tiles_per_split);
  if (tiles_per_split % tiles == 0) return 1;
  return int32_t(1 + ceil_div(tiles - 1, tiles_per_split));
}

WorkspacePlan plan_workspace(const FmhaBwdParams& params, int num_cus) {
  const bool group = params.mode == SequenceMode::group;
  const bool deterministic = params.accumulation == Accumulation::deterministic;
  WorkspacePlan plan = {};
  plan.batch = params.batch;
  plan.nhead_q = params.nhead_q;
  plan.hdim_q = params.hdim_q;
  plan.k_tile = k_tile_for(params.hdim_q, params.hdim_v);
  plan.rows_q = group ? params.seqlen_q : int64_t(params.batch) * params.seqlen_q;
  plan.rows_k = group ? params.seqlen_k : int64_t(params.batch) * params.seqlen_k;
  plan.reads_borders = group;
  plan.per_item = group && deterministic;
  // Without a mask every tile of a deterministic split is stored, and nothing else is read.
  plan.needs_zero = !plan.per_item || params.mask != Mask::none;
  plan.fixed_nsplits = 1;
  plan.tiles_per_split = 1;

  const int64_t tiles = ceil_div(longest_keys(params), plan.k_tile);
  if (!group && deterministic) {
    const int64_t jobs = int64_t(params.batch) * params.nhead_q * tiles;
    plan.tiles_per_split = int32_t(std::max<int64_t>(1, ceil_div(jobs, num_cus)));
    plan.fixed_nsplits = splits_per_head(tiles, plan.tiles_per_split);
  }
  const int64_t factor = plan.per_item ? tiles : plan.fixed_nsplits;
  plan.dq_acc_bound = factor * plan.nhead_q * plan.rows_q * plan.hdim_q;
  return plan;
}

WorkspaceView view_workspace(const WorkspacePlan& plan, void* workspace) {
  char* base = static_cast<char*>(workspace);
  return {reinterpret_cast<int32_t*>(base),
          reinterpret_cast<int64_t*>(base + plan.offsets_at()),
          reinterpret_cast<float*>(base + plan.metadata_bytes()),
          plan.k_tile,
          plan.tiles_per_split,
          plan.per_item};
}

}  // namespace hip_ext
