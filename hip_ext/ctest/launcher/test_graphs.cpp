// Capture once, replay often, with other borders each time.
#include "hip_ext/pinned.h"
#include "problem.h"
#include "steering.h"
#include "throws.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

Shape padded_shape() {
  Shape shape;
  shape.mask = Mask::causal;
  shape.length_style = LengthStyle::seqlen_ptr;
  shape.sequences = {{64, 200}, {40, 184}};
  shape.hdim_q = shape.hdim_v = 32;
  return shape;
}

// The same tensors cut differently.
std::vector<Sequence> cut(int replay) {
  const int queries = 10 + 4 * replay, keys = 5 + 18 * replay;
  return {{queries, keys}, {104 - queries, 384 - keys}};
}

struct Captured {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  std::shared_ptr<void> block;

  ~Captured() {
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
  }
};

void capture(Problem& problem, WorkspaceMode mode, hipStream_t stream, Captured& captured) {
  LaunchOptions options;
  options.workspace = mode;
  FmhaBwdParams params = problem.params();
  params.max_seqlen_q = params.seqlen_q;
  params.max_seqlen_k = params.seqlen_k;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  const LaunchResult result = fmha_bwd(params, options, problem.allocators(), stream);
  OK(hipStreamEndCapture(stream, &captured.graph));
  OK(hipGraphInstantiate(&captured.exec, captured.graph, nullptr, nullptr, 0));
  CHECK((result.graph_block != nullptr) == (mode == WorkspaceMode::async));
  captured.block = result.graph_block;
}

struct Cut {
  Inputs inputs;
  Outputs outputs;
};

// The cuts with their results, each checked against float64.
std::vector<Cut> solved_cuts(Problem& problem) {
  std::vector<Cut> cuts;
  for (int i = 0; i < 20; ++i) {
    problem.set_sequences(cut(i));
    const Outputs outputs = problem.run(WorkspaceMode::device);
    const std::string wrong = problem.compare(outputs);
    if (!wrong.empty()) std::fprintf(stderr, "cut %d: %s\n", i, wrong.c_str());
    CHECK(wrong.empty());
    cuts.push_back({problem.download_inputs(), outputs});
  }
  return cuts;
}

TEST(a_captured_backward_replays_a_thousand_times_with_changing_borders) {
  for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
    Problem problem(padded_shape());
    const std::vector<Cut> cuts = solved_cuts(problem);
    problem.run(mode);  // sizes the workspace, which a capture must not do
    PinnedPool::instance().reserve(8192, 1);
    hipStream_t stream = make_stream();
    {
      Captured captured;
      capture(problem, mode, stream, captured);
      for (int replay = 0; replay < 1000; ++replay) {
        const Cut& cut = cuts[size_t(replay) % cuts.size()];
        problem.upload_inputs(cut.inputs);
        problem.poison_outputs();
        OK(hipGraphLaunch(captured.exec, stream));
        OK(hipStreamSynchronize(stream));
        CHECK(problem.download() == cut.outputs);
      }
    }
    hip_ext::check();
    OK(hipStreamDestroy(stream));
  }
}

TEST(the_graph_block_is_reusable_only_after_its_owner_drops_it) {
  Problem problem(padded_shape());
  problem.run(WorkspaceMode::async);
  hipStream_t stream = make_stream();
  std::shared_ptr<void> block;
  void* address = nullptr;
  PinnedPool pool;
  pool.reserve(8000, 1);
  {
    Captured captured;
    Allocators allocators = problem.allocators();
    allocators.pinned_host_alloc = [&](size_t bytes) {
      return pool.allocate(std::max(bytes, size_t(8000)));
    };
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    block = fmha_bwd(problem.params(), {}, allocators, stream).graph_block;
    OK(hipStreamEndCapture(stream, &captured.graph));
    OK(hipGraphInstantiate(&captured.exec, captured.graph, nullptr, nullptr, 0));
    for (int replay = 0; replay < 3; ++replay) OK(hipGraphLaunch(captured.exec, stream));
    OK(hipStreamSynchronize(stream));
    address = block.get();
    CHECK(block.use_count() == 1);  // no replay has released it, none holds it
    CHECK(pool.free_blocks() == 0);
    CHECK(pool.allocate(8000).get() != address);
  }
  block.reset();
  CHECK(pool.free_blocks() == 2);
  OK(hipStreamDestroy(stream));
}

TEST(a_bad_replay_is_reported_by_check) {
  Problem problem(padded_shape());
  problem.run(WorkspaceMode::async);
  hipStream_t stream = make_stream();
  {
    Captured captured;
    capture(problem, WorkspaceMode::async, stream, captured);
    const int32_t bad[] = {0, 300, 200};
    problem.device("seqstart_k").upload(bad, sizeof bad);
    OK(hipGraphLaunch(captured.exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(contains(message_of<GpuError>(hip_ext::check), "seqstart_k"));
    problem.set_sequences(problem.shape().sequences);
    OK(hipGraphLaunch(captured.exec, stream));
    OK(hipStreamSynchronize(stream));
    hip_ext::check();
    CHECK(problem.compare(problem.download()).empty());
  }
  OK(hipStreamDestroy(stream));
}

TEST(sync_mode_refuses_capture_and_leaves_it_valid) {
  Problem problem(padded_shape());
  problem.run(WorkspaceMode::device);
  problem.poison_outputs();
  hipStream_t stream = make_stream();
  LaunchOptions options;
  options.workspace = WorkspaceMode::sync;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  const std::string message = message_of<std::invalid_argument>(
      [&] { fmha_bwd(problem.params(), options, problem.allocators(), stream); });
  CHECK(contains(message, "can not be captured; use async or device"));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(stream, &status));
  CHECK(status == hipStreamCaptureStatusActive);
  options.workspace = WorkspaceMode::device;
  fmha_bwd(problem.params(), options, problem.allocators(), stream);
  {
    Captured captured;
    OK(hipStreamEndCapture(stream, &captured.graph));
    OK(hipGraphInstantiate(&captured.exec, captured.graph, nullptr, nullptr, 0));
    OK(hipGraphLaunch(captured.exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(problem.compare(problem.download()).empty());
  }
  OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
