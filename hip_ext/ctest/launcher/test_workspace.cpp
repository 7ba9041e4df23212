// The arithmetic of the workspace: sizes, offsets, bounds, and the pack.
#include <limits>
#include <vector>

#include "../check.h"
#include "hip_ext/workspace.h"

using namespace hip_ext;

namespace {

constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();

FmhaBwdParams group(const std::vector<int32_t>& seqstart_q, const std::vector<int32_t>& seqstart_k,
                    int32_t max_seqlen_k, int32_t nhead_q, int32_t hdim) {
  FmhaBwdParams p = {};
  p.mode = SequenceMode::group;
  p.accumulation = Accumulation::deterministic;
  p.batch = int32_t(seqstart_q.size()) - 1;
  p.nhead_q = p.nhead_k = nhead_q;
  p.hdim_q = p.hdim_v = hdim;
  p.seqlen_q = seqstart_q.back();
  p.seqlen_k = seqstart_k.back();
  p.max_seqlen_k = max_seqlen_k;
  return p;
}

FmhaBwdParams batch(int32_t items, int32_t nhead_q, int32_t seqlen_q, int32_t seqlen_k) {
  FmhaBwdParams p = {};
  p.mode = SequenceMode::batch;
  p.accumulation = Accumulation::deterministic;
  p.batch = items;
  p.nhead_q = p.nhead_k = nhead_q;
  p.hdim_q = p.hdim_v = 64;
  p.seqlen_q = seqlen_q;
  p.seqlen_k = seqlen_k;
  return p;
}

struct Packed {
  PackResult result;
  std::vector<int32_t> nsplits;
  std::vector<int64_t> offsets;
};

Packed pack(const WorkspacePlan& plan, const std::vector<int32_t>& q, const std::vector<int32_t>& k,
            int64_t capacity = no_limit) {
  const size_t items = plan.per_item ? size_t(plan.batch) : 1;
  Packed packed = {{}, std::vector<int32_t>(items), std::vector<int64_t>(items)};
  packed.result = pack_metadata(plan, q.data(), k.data(), capacity, packed.nsplits.data(),
                                packed.offsets.data());
  return packed;
}

TEST(the_worked_example_has_its_numbers) {
  const std::vector<int32_t> q = {0, 64, 192, 320}, k = {0, 100, 400, 1000};
  const WorkspacePlan plan = plan_workspace(group(q, k, 600, 2, 64), /*num_cus=*/1);
  const Packed packed = pack(plan, q, k);
  CHECK(plan.k_tile == 128);
  CHECK(packed.nsplits == (std::vector<int32_t>{1, 3, 5}));
  CHECK(packed.offsets == (std::vector<int64_t>{0, 8192, 57344}));
  CHECK(packed.result.dq_acc_elements == 139264);
  CHECK(4 * packed.result.dq_acc_elements == 557056);
  CHECK(4 * plan.dq_acc_bound == 819200);
  CHECK(plan.offsets_at() == 16);
  CHECK(plan.metadata_bytes() == 4096);
}

TEST(padding_counts_when_it_crosses_a_tile) {
  // Logical keys 100 and 130 of 160 and 260 rows: 2 and 3 splits, where logical lengths would say
  // 1 and 2. max_seqlen_k is logical, as callers pass it.
  const std::vector<int32_t> q = {0, 50, 130}, k = {0, 160, 420}, cu_k = {0, 100, 230};
  FmhaBwdParams params = group(q, k, 130, 2, 64);
  params.cu_seqlen_k = cu_k.data();
  const WorkspacePlan plan = plan_workspace(params, 1);
  const Packed packed = pack(plan, q, k, plan.dq_acc_bound);
  CHECK(packed.result.failure == PackFailure::none);
  CHECK(packed.nsplits == (std::vector<int32_t>{2, 3}));
  CHECK(packed.offsets == (std::vector<int64_t>{0, 2 * 2 * 50 * 64}));
  CHECK(packed.result.dq_acc_elements == 2 * 64 * (2 * 50 + 3 * 80));
  CHECK(plan.dq_acc_bound == 4LL * 2 * 130 * 64);  // ceil(420 / 128): nothing tighter is known

  params.max_seqlen_k_padded = 260;
  CHECK(plan_workspace(params, 1).dq_acc_bound == 3LL * 2 * 130 * 64);
  CHECK(packed.result.dq_acc_elements <= plan_workspace(params, 1).dq_acc_bound);
}

TEST(a_bound_that_is_too_small_is_a_failure_and_not_an_overrun) {
  const std::vector<int32_t> q = {0, 64}, k = {0, 600};
  const WorkspacePlan plan = plan_workspace(group(q, k, /*max_seqlen_k=*/100, 1, 64), 1);
  const Packed packed = pack(plan, q, k, plan.dq_acc_bound);
  CHECK(packed.result.failure == PackFailure::bound);
  CHECK(packed.nsplits == (std::vector<int32_t>{-1}));
}

TEST(bad_borders_are_failures) {
  const std::vector<int32_t> good = {0, 64, 128};
  const WorkspacePlan plan = plan_workspace(group(good, good, 64, 1, 64), 1);
  for (const std::vector<int32_t>& bad :
       {std::vector<int32_t>{1, 64, 128}, std::vector<int32_t>{0, 65, 64},
        std::vector<int32_t>{0, 64, 129}, std::vector<int32_t>{0, -1, 128}}) {
    CHECK(pack(plan, bad, good).result.failure == PackFailure::borders);
    CHECK(pack(plan, good, bad).result.failure == PackFailure::borders);
    CHECK(pack(plan, good, bad).nsplits == (std::vector<int32_t>{-1, -1}));
  }
  CHECK(pack(plan, good, good).result.failure == PackFailure::none);
}

TEST(group_accumulation_needs_one_split_of_the_real_rows) {
  const std::vector<int32_t> q = {0, 64, 192}, k = {0, 300, 900};
  FmhaBwdParams params = group(q, k, 600, 2, 64);
  params.accumulation = Accumulation::accumulate;
  const WorkspacePlan plan = plan_workspace(params, 1);
  const Packed packed = pack(plan, q, k);
  CHECK(packed.nsplits == (std::vector<int32_t>{1}));
  CHECK(packed.result.dq_acc_elements == 2 * 192 * 64);
  CHECK(plan.dq_acc_bound == packed.result.dq_acc_elements);
  CHECK(plan.metadata_bytes() == 4096);
}

TEST(deterministic_batch_splits_by_compute_units) {
  // 2 x 4 heads x 8 tiles = 64 jobs.
  const auto splits = [](int num_cus, int32_t seqlen_k = 1024) {
    const WorkspacePlan plan = plan_workspace(batch(2, 4, 512, seqlen_k), num_cus);
    CHECK(plan.dq_acc_bound == int64_t(plan.fixed_nsplits) * 2 * 4 * 512 * 64);
    return plan.fixed_nsplits;
  };
  CHECK(splits(64) == 8);  // a job a worker
  CHECK(splits(16) == 2);  // 4 divides 8
  CHECK(splits(4) == 1);   // 8 divides 16
  CHECK(splits(13) == 3);  // 5 a worker: 1 + ceil(7 / 5)
  CHECK(splits(1) == 1);
  CHECK(splits(304, 0) == 1);  // no keys
}

TEST(splits_per_head_is_what_the_busiest_head_meets) {
  for (int64_t tiles = 1; tiles <= 12; ++tiles) {
    for (int64_t per_split = 1; per_split <= 30; ++per_split) {
      int64_t most = 0;
      for (int64_t head = 0; head < 60; ++head) {
        const int64_t first = head * tiles / per_split;
        const int64_t last = (head * tiles + tiles - 1) / per_split;
        most = std::max(most, last - first + 1);
      }
      CHECK(splits_per_head(tiles, per_split) >= most);
    }
  }
}

TEST(only_stored_splits_are_left_uncleared) {
  const std::vector<int32_t> borders = {0, 64};
  FmhaBwdParams p = group(borders, borders, 64, 1, 64);
  CHECK(!plan_workspace(p, 1).needs_zero);
  p.mask = Mask::causal;
  CHECK(plan_workspace(p, 1).needs_zero);
  p.mask = Mask::none;
  p.accumulation = Accumulation::accumulate;
  CHECK(plan_workspace(p, 1).needs_zero);
  CHECK(plan_workspace(batch(1, 1, 64, 64), 1).needs_zero);
}

TEST(metadata_fits_one_page_up_to_340_sequences) {
  const auto bytes = [](size_t items) {
    const std::vector<int32_t> borders(items + 1, 0);
    return plan_workspace(group(borders, borders, 0, 1, 64), 1).metadata_bytes();
  };
  CHECK(bytes(340) == 4096);
  CHECK(bytes(342) == 8192);
}

TEST(large_head_sizes_have_small_tiles) {
  CHECK(k_tile_for(128, 128) == 128);
  CHECK(k_tile_for(136, 64) == 64);
  CHECK(k_tile_for(64, 256) == 64);
}

}  // namespace

CHECK_MAIN()
