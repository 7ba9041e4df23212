// Each mode against float64, outputs and workspace poisoned, and the modes against each other.
#include "../check.h"
#include "problem.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

constexpr WorkspaceMode all_modes[] = {WorkspaceMode::sync, WorkspaceMode::async,
                                       WorkspaceMode::device};

// The sum order of the CPU kernels never changes, whatever was asked for.
#if defined(HIP_EXT_TARGET_HOST)
constexpr bool always_deterministic = true;
#else
constexpr bool always_deterministic = false;
#endif

void check_right(const Problem& problem, const Outputs& outputs, const References& references) {
  const std::string wrong = problem.compare(outputs, references);
  const std::string name = describe(problem.shape());
  if (!wrong.empty()) std::fprintf(stderr, "%s: %s\n", name.c_str(), wrong.c_str());
  CHECK(wrong.empty());
}

void check_shape(const Shape& shape) {
  Problem problem(shape);
  const Outputs first = problem.run(WorkspaceMode::sync);
  const References references = problem.references();
  check_right(problem, first, references);
  for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
    const Outputs outputs = problem.run(mode);
    if (always_deterministic || shape.accumulation == Accumulation::deterministic) {
      CHECK(outputs == first);
    } else {
      check_right(problem, outputs, references);
    }
  }
}

void check_masks_and_accumulations(Shape shape) {
  for (const Mask mask : {Mask::none, Mask::causal}) {
    for (const Accumulation accumulation :
         {Accumulation::accumulate, Accumulation::deterministic}) {
      shape.mask = mask;
      shape.accumulation = accumulation;
      check_shape(shape);
    }
  }
}

TEST(batch_mode_is_right) {
  Shape shape;
  shape.mode = SequenceMode::batch;
  for (const Sequence& s : {Sequence{1, 1}, Sequence{70, 300}, Sequence{300, 70}}) {
    shape.sequences = {s, s};
    check_masks_and_accumulations(shape);
  }
}

TEST(group_mode_is_right) {
  Shape shape;
  shape.sequences = {{64, 100}, {128, 300}, {1, 600}, {33, 1}};
  check_masks_and_accumulations(shape);
}

// The padding variants; the keys' padding crosses a tile border in mixed and k_only.
TEST(padding_is_neither_read_nor_written) {
  Shape shape;
  for (const LengthStyle style : {LengthStyle::cu_seqlen, LengthStyle::seqlen_ptr}) {
    shape.length_style = style;
    for (const auto& [queries, keys] : {std::pair{30, 60}, {30, 0}, {0, 60}, {0, 0}}) {
      shape.sequences = {{50, 100, queries, keys}, {80, 250, queries, keys}, {7, 9, queries, keys}};
      check_masks_and_accumulations(shape);
    }
  }
}

TEST(key_padding_that_crosses_a_tile_keeps_the_heads_apart) {
  Shape shape;
  shape.nhead_q = shape.nhead_k = 3;
  shape.sequences = {{64, 100, 0, 60}, {64, 128, 0, 1}, {64, 10, 0, 500}};
  check_masks_and_accumulations(shape);
}

TEST(empty_sequences_have_empty_gradients) {
  Shape shape;
  shape.sequences = {{0, 40},      {40, 0},        {0, 0},        {20, 30},
                     {0, 0, 5, 5}, {9, 0, 3, 150}, {0, 9, 3, 150}};
  check_masks_and_accumulations(shape);
}

TEST(a_batch_without_keys_has_dq_zero) {
  Shape shape;
  shape.mode = SequenceMode::batch;
  shape.sequences = {{40, 0}, {40, 0}};
  check_masks_and_accumulations(shape);
  shape.sequences = {{0, 40}, {0, 40}};
  check_masks_and_accumulations(shape);
  shape.mode = SequenceMode::group;
  check_masks_and_accumulations(shape);
}

TEST(query_heads_share_key_heads) {
  Shape shape;
  shape.nhead_q = 8;
  for (const int nhead_k : {1, 2, 8}) {
    shape.nhead_k = nhead_k;
    shape.sequences = {{60, 90}, {20, 140}};
    check_masks_and_accumulations(shape);
  }
}

TEST(head_sizes_and_types_are_right) {
  Shape shape;
  shape.mask = Mask::causal;
  shape.sequences = {{40, 150}, {70, 70}};
  for (const DataType dtype : {DataType::bf16, DataType::fp16}) {
    shape.dtype = dtype;
    for (const auto& [hdim_q, hdim_v] : {std::pair{8, 8},
                                         {32, 32},
                                         {40, 40},
                                         {64, 128},
                                         {96, 72},
                                         {128, 128},
                                         {192, 128},
                                         {256, 256}}) {
      shape.hdim_q = hdim_q;
      shape.hdim_v = hdim_v;
      for (const SequenceMode mode : {SequenceMode::group, SequenceMode::batch}) {
        shape.mode = mode;
        if (mode == SequenceMode::batch) shape.sequences = {{70, 150}, {70, 150}};
        check_shape(shape);
      }
    }
  }
}

TEST(long_sequences_are_right) {
  Shape shape;
  shape.nhead_q = shape.nhead_k = 1;
  shape.mask = Mask::causal;
  shape.sequences = {{513, 1100}, {700, 511}};
  check_shape(shape);
}

TEST(a_run_reports_what_it_asked_for) {
  Shape shape;
  shape.sequences = {{64, 100}, {128, 300}, {128, 600}};  // the worked example
  Problem problem(shape);
  for (const WorkspaceMode mode : all_modes) {
    LaunchOptions options;
    options.workspace = mode;
    const LaunchResult result = fmha_bwd(problem.params(), options, problem.allocators(), nullptr);
    GPU_CHECK(hipDeviceSynchronize());
    CHECK(result.metadata_bytes == 4096);
    CHECK(result.workspace_bytes == 4096u + (mode == WorkspaceMode::sync ? 557056 : 819200));
    CHECK((result.pinned_bytes > 0) == (mode == WorkspaceMode::async));
    CHECK(!result.zeroed && !result.waited_for_stream && result.graph_block == nullptr);
  }
}

}  // namespace

CHECK_MAIN()
