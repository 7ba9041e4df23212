// Which runtime calls each mode makes, in which order: what a trace of it will show.
#include "../host_runtime/gate.h"
#include "hip_ext/pinned.h"
#include "hip_host/recorder.h"
#include "problem.h"
#include "throws.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

// The calls of one backward in order, without the queries that do no work.
std::vector<std::string> calls_of(Problem& problem, WorkspaceMode mode, hipStream_t stream) {
  problem.run(mode, stream);  // sizes the workspace and the pool
  LaunchOptions options;
  options.workspace = mode;
  hip_host::recorder_start();
  fmha_bwd(problem.params(), options, problem.allocators(), stream);
  hip_host::recorder_stop();
  OK(hipDeviceSynchronize());
  std::vector<std::string> names;
  for (const hip_host::ApiRecord& call : hip_host::recorder_take().api) {
    const std::string name = call.name;
    if (name == "hipStreamIsCapturing" || name == "hipStreamGetFlags" || name == "hipGetDevice") {
      continue;
    }
    names.push_back(call.kernel != nullptr ? *call.kernel : name);
  }
  return names;
}

std::vector<std::string> with_kernels(std::vector<std::string> preparation,
                                      const std::vector<std::string>& tail = {}) {
  for (const char* name : {"fmha_bwd_dot_do_o", "fmha_bwd_dq_dk_dv", "fmha_bwd_convert_dq"}) {
    preparation.push_back(name);
  }
  preparation.insert(preparation.end(), tail.begin(), tail.end());
  return preparation;
}

Shape masked_group() {
  Shape shape;
  shape.mask = Mask::causal;
  return shape;
}

TEST(sync_makes_the_legacy_calls) {
  Problem problem(masked_group());
  CHECK(calls_of(problem, WorkspaceMode::sync, nullptr) ==
        with_kernels({"hipMemcpy", "hipMemcpy", "hipMemcpy", "hipMemset"}));
}

TEST(sync_waits_for_a_non_blocking_stream_and_then_for_the_null_stream) {
  Problem problem(masked_group());
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  CHECK(calls_of(problem, WorkspaceMode::sync, stream) ==
        with_kernels({"hipStreamSynchronize", "hipMemcpy", "hipMemcpy", "hipMemcpy", "hipMemset",
                      "hipStreamSynchronize"}));
  OK(hipStreamDestroy(stream));
}

TEST(async_makes_only_stream_calls) {
  Problem problem(masked_group());
  CHECK(calls_of(problem, WorkspaceMode::async, nullptr) ==
        with_kernels({"hipMemsetAsync", "hipMemcpyAsync", "hipMemcpyAsync", "hipLaunchHostFunc",
                      "hipMemcpyAsync"},
                     {"hipLaunchHostFunc"}));
}

TEST(device_makes_neither_copies_nor_host_functions) {
  Problem problem(masked_group());
  CHECK(calls_of(problem, WorkspaceMode::device, nullptr) ==
        with_kernels({"hipMemsetAsync", "fmha_bwd_write_metadata"}));
  Problem unmasked({});
  CHECK(calls_of(unmasked, WorkspaceMode::device, nullptr) ==
        with_kernels({"fmha_bwd_write_metadata"}));
}

TEST(batch_mode_reads_no_borders) {
  Shape shape;
  shape.mode = SequenceMode::batch;
  Problem problem(shape);
  CHECK(calls_of(problem, WorkspaceMode::sync, nullptr) ==
        with_kernels({"hipMemcpy", "hipMemset"}));
  CHECK(calls_of(problem, WorkspaceMode::async, nullptr) ==
        with_kernels({"hipMemsetAsync", "hipLaunchHostFunc", "hipMemcpyAsync"},
                     {"hipLaunchHostFunc"}));
}

TEST(a_call_that_fails_midway_still_gives_its_block_back_by_the_tail) {
  Problem problem(masked_group());
  problem.run(WorkspaceMode::async);
  PinnedPool pool;
  Allocators allocators = problem.allocators();
  allocators.pinned_host_alloc = [&](size_t bytes) { return pool.allocate(bytes); };
  FmhaBwdParams params = problem.params();
  const std::vector<int32_t> not_device_memory(2);
  params.seqstart_k = not_device_memory.data();
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  const std::string message =
      message_of<GpuError>([&] { fmha_bwd(params, {}, allocators, stream); });
  CHECK(contains(message, "hipMemcpyAsync"));
  CHECK(pool.free_blocks() == 0);
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(pool.free_blocks() == 1);
  OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
