// Every refusal: its words, and that nothing was allocated or enqueued before it.
#include <cmath>

#include "hip_ext/pinned.h"
#include "problem.h"
#include "steering.h"
#include "throws.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

Shape small_group() {
  Shape shape;
  shape.sequences = {{16, 16}, {8, 24}};
  return shape;
}

// The refusal of these arguments; checks that the allocators and the stream were left alone.
std::string refusal(const FmhaBwdParams& params, WorkspaceMode mode = WorkspaceMode::async,
                    bool with_workspace = true, bool with_pinned = true) {
  int allocations = 0;
  Allocators allocators;
  if (with_workspace) {
    allocators.workspace_alloc = [&](size_t, bool) {
      ++allocations;
      return static_cast<void*>(nullptr);
    };
  }
  if (with_pinned) {
    allocators.pinned_host_alloc = [&](size_t) {
      ++allocations;
      return std::shared_ptr<void>();
    };
  }
  LaunchOptions options;
  options.workspace = mode;
  hipStream_t stream = make_stream();
  const std::string message =
      message_of<std::invalid_argument>([&] { fmha_bwd(params, options, allocators, stream); });
  CHECK(allocations == 0);
  CHECK(hipStreamQuery(stream) == hipSuccess);
  OK(hipStreamDestroy(stream));
  return message;
}

TEST(sizes_are_checked) {
  Problem problem(small_group());
  const auto refused = [&](auto change) {
    FmhaBwdParams params = problem.params();
    change(params);
    return refusal(params);
  };
  CHECK(contains(refused([](auto& p) { p.batch = 0; }), "batch must be positive, got 0"));
  CHECK(contains(refused([](auto& p) { p.nhead_k = 0; }), "must be positive"));
  CHECK(contains(refused([](auto& p) { p.nhead_q = 3; }), "nhead_q (3) must be a multiple of"));
  CHECK(contains(refused([](auto& p) { p.hdim_q = 60; }), "hdim_q must be a multiple of 8"));
  CHECK(contains(refused([](auto& p) { p.hdim_v = 264; }), "from 8 to 256, got 264"));
  CHECK(contains(refused([](auto& p) { p.seqlen_q = -1; }), "must not be negative"));
  CHECK(contains(refused([](auto& p) { p.scale = INFINITY; }), "scale must be finite"));
  CHECK(contains(refused([](auto& p) { p.dtype = DataType(7); }), "fp16 or bf16"));
  CHECK(contains(refused([](auto& p) { p.max_seqlen_k = -1; }), "max_seqlen_k must not be"));
  CHECK(contains(refused([](auto& p) { p.max_seqlen_k_padded = 1; }), "at least max_seqlen_k"));
}

TEST(pointers_are_checked) {
  Problem problem(small_group());
  const auto refused = [&](auto change) {
    FmhaBwdParams params = problem.params();
    change(params);
    return refusal(params);
  };
  CHECK(contains(refused([](auto& p) { p.dout = nullptr; }), "dout"));
  CHECK(contains(refused([](auto& p) { p.dv = nullptr; }), "dv must not be null"));
  CHECK(contains(refused([](auto& p) { p.seqstart_k = nullptr; }), "group mode needs seqstart_q"));
  CHECK(contains(refused([](auto& p) { p.cu_seqlen_q = p.seqlen_q_ptr = p.seqstart_q; }),
                 "query lengths as cu_seqlen_q or as seqlen_q_ptr, not both"));
  CHECK(contains(refused([](auto& p) { p.cu_seqlen_k = p.seqlen_k_ptr = p.seqstart_k; }),
                 "key lengths as cu_seqlen_k or as seqlen_k_ptr, not both"));
  CHECK(contains(refused([](auto& p) { p.mode = SequenceMode::batch; }),
                 "batch mode takes no seqstart"));
}

TEST(async_needs_the_pinned_callback_in_both_modes_and_the_others_do_not) {
  Shape shape = small_group();
  Problem group(shape);
  shape.mode = SequenceMode::batch;
  shape.sequences = {{16, 16}};
  Problem batch(shape);
  for (Problem* problem : {&group, &batch}) {
    const FmhaBwdParams params = problem->params();
    CHECK(contains(refusal(params, WorkspaceMode::async, true, /*with_pinned=*/false),
                   "needs the pinned_host_alloc callback"));
    for (const WorkspaceMode mode : {WorkspaceMode::sync, WorkspaceMode::device}) {
      Allocators allocators = problem->allocators();
      allocators.pinned_host_alloc = nullptr;
      LaunchOptions options;
      options.workspace = mode;
      fmha_bwd(params, options, allocators, nullptr);
      OK(hipDeviceSynchronize());
    }
    for (const WorkspaceMode mode :
         {WorkspaceMode::sync, WorkspaceMode::async, WorkspaceMode::device}) {
      CHECK(contains(refusal(params, mode, /*with_workspace=*/false),
                     "workspace_alloc callback is missing"));
    }
  }
}

TEST(allocators_that_give_nothing_are_named) {
  Problem problem(small_group());
  LaunchOptions options;
  Allocators allocators = problem.allocators();
  allocators.workspace_alloc = [](size_t, bool) { return static_cast<void*>(nullptr); };
  const auto launch_it = [&] { fmha_bwd(problem.params(), options, allocators, nullptr); };
  CHECK(contains(message_of<GpuError>(launch_it), "workspace_alloc gave no 16-aligned memory"));
  allocators = problem.allocators();
  allocators.pinned_host_alloc = [](size_t) { return std::shared_ptr<void>(); };
  CHECK(contains(message_of<GpuError>(launch_it), "pinned_host_alloc gave no 16-aligned memory"));
}

TEST(a_failed_runtime_call_says_which_where_and_why) {
  const std::string message = message_of<GpuError>(
      [] { GPU_CHECK(hipMemcpy(nullptr, nullptr, 8, hipMemcpyHostToDevice)); });
  CHECK(contains(message, "hipMemcpy(nullptr"));
  CHECK(contains(message, "ErrorInvalidValue"));  // hip... or cuda...
  CHECK(contains(message, "test_errors.cpp:"));
}

bool all_nan(const std::vector<uint16_t>& bf16) {
  for (const uint16_t value : bf16) {
    if ((value & 0x7fff) <= 0x7f80) return false;
  }
  return true;
}

// Zeros instead of the poison, which is NaN itself.
void clear_dq(Problem& problem) { problem.device("dq").fill(0); }

TEST(a_pack_failure_is_raised_by_the_next_call_once_and_leaves_nan) {
  Problem problem(small_group());
  const int32_t decreasing[] = {0, 20, 10};
  problem.device("seqstart_k").upload(decreasing, sizeof decreasing);
  LaunchOptions options;
  clear_dq(problem);
  fmha_bwd(problem.params(), options, problem.allocators(), nullptr);
  OK(hipDeviceSynchronize());
  CHECK(all_nan(problem.device("dq").download<uint16_t>()));
  const auto again = [&] { fmha_bwd(problem.params(), options, problem.allocators(), nullptr); };
  CHECK(contains(message_of<GpuError>(again), "seqstart_q or seqstart_k does not start with 0"));

  problem.set_sequences(problem.shape().sequences);
  CHECK(problem.compare(problem.run(WorkspaceMode::async)).empty());
}

TEST(a_max_seqlen_k_that_is_too_small_is_a_pack_failure_in_async_and_nan_in_device) {
  Shape shape;
  shape.sequences = {{16, 400}};
  Problem problem(shape);
  FmhaBwdParams params = problem.params();
  params.max_seqlen_k = 100;
  LaunchOptions options;
  for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
    options.workspace = mode;
    clear_dq(problem);
    fmha_bwd(params, options, problem.allocators(), nullptr);
    OK(hipDeviceSynchronize());
    CHECK(all_nan(problem.device("dq").download<uint16_t>()));
    const std::string message = message_of<GpuError>(hip_ext::check);
    CHECK(contains(message, mode == WorkspaceMode::async ? "longer than max_seqlen_k" : ""));
    CHECK(message.empty() == (mode == WorkspaceMode::device));
  }
}

TEST(sync_mode_refuses_bad_borders_at_once) {
  Problem problem(small_group());
  const int32_t too_long[] = {0, 16, 4000};
  problem.device("seqstart_q").upload(too_long, sizeof too_long);
  CHECK(contains(refusal(problem.params(), WorkspaceMode::sync), "ends beyond the tensor"));
}

}  // namespace

CHECK_MAIN()
