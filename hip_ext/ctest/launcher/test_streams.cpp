// Who waits for whom: the host while the stream is held, and streams the null stream ignores.
#include <thread>

#include "problem.h"
#include "steering.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

LaunchResult enqueue(Problem& problem, WorkspaceMode mode, hipStream_t stream,
                     bool keep_legacy_race = false) {
  LaunchOptions options;
  options.workspace = mode;
  options.keep_legacy_race = keep_legacy_race;
  return fmha_bwd(problem.params(), options, problem.allocators(), stream);
}

// Sizes the workspace and warms the pool, which would block behind a held stream.
void warm_up(Problem& problem) {
  for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
    enqueue(problem, mode, nullptr);
    OK(hipDeviceSynchronize());
  }
  problem.poison_outputs();
}

TEST(async_and_device_return_while_the_stream_is_held) {
  for (const unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
    for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
      Problem problem({});
      warm_up(problem);
      hipStream_t stream = make_stream(flags);
      HeldKernel held(stream);
      held.wait_started();
      enqueue(problem, mode, stream);  // a call that waited would hang here
      CHECK(hipStreamQuery(stream) == hipErrorNotReady);
      held.release();
      OK(hipStreamSynchronize(stream));
      CHECK(problem.compare(problem.download()).empty());
      OK(hipStreamDestroy(stream));
    }
  }
}

TEST(sync_returns_only_after_the_stream_was_let_go) {
  Problem problem({});
  problem.run(WorkspaceMode::sync);
  problem.poison_outputs();
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  Gate let_go;
  std::thread host([&] {
    enqueue(problem, WorkspaceMode::sync, stream);
    CHECK(let_go.is_open());
  });
  held.wait_started();
  let_go.open();
  held.release();
  host.join();
  OK(hipStreamSynchronize(stream));
  CHECK(problem.compare(problem.download()).empty());
  OK(hipStreamDestroy(stream));
}

// A producer on the stream writes the borders after the held kernel; the ones before say 2 splits
// for each sequence, those after say 3 and 1.
class LateBorders {
 public:
  explicit LateBorders(hipStream_t stream) : stream_(stream) {
    problem.set_sequences({{64, 384}, {64, 128}});
    const int32_t stale[] = {0, 256, 512};
    problem.device("seqstart_k").upload(stale, sizeof stale);
    problem.poison_outputs();
    held.emplace_back(std::make_unique<HeldKernel>(stream));
    int32_t* borders = static_cast<int32_t*>(problem.device("seqstart_k").get());
    write_in_order(stream, borders + 1, 384);
  }

  std::string result() {
    OK(hipStreamSynchronize(stream_));
    return problem.compare(problem.download());
  }

  Problem problem{two_sequences()};
  std::vector<std::unique_ptr<HeldKernel>> held;

 private:
  static Shape two_sequences() {
    Shape shape;
    shape.sequences = {{64, 256}, {64, 256}};
    return shape;
  }

  hipStream_t stream_;
};

TEST(sync_on_a_non_blocking_stream_waits_for_it_and_says_so) {
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  LateBorders late(stream);
  std::thread releaser([&] { late.held[0]->release(); });
  CHECK(enqueue(late.problem, WorkspaceMode::sync, stream).waited_for_stream);
  CHECK(late.result().empty());
  releaser.join();
  OK(hipStreamDestroy(stream));
}

TEST(the_legacy_path_on_a_non_blocking_stream_reads_stale_borders) {
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  LateBorders late(stream);
  CHECK(!enqueue(late.problem, WorkspaceMode::sync, stream, /*keep_legacy_race=*/true)
             .waited_for_stream);
  late.held[0]->release();
  const std::string wrong = late.result();
  std::printf("  as expected: %s\n", wrong.c_str());
  CHECK(!wrong.empty());
  OK(hipStreamDestroy(stream));
}

TEST(the_other_modes_read_late_borders_in_stream_order) {
  for (const WorkspaceMode mode : {WorkspaceMode::async, WorkspaceMode::device}) {
    hipStream_t stream = make_stream(hipStreamNonBlocking);
    LateBorders late(stream);
    std::thread releaser([&] { late.held[0]->release(); });  // allocations may wait
    enqueue(late.problem, mode, stream);
    CHECK(late.result().empty());
    releaser.join();
    OK(hipStreamDestroy(stream));
  }
}

TEST(threads_with_their_own_streams_do_not_meet) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      Shape shape;
      shape.sequences = {{20 + t, 200}, {30, 10 + t}};
      Problem problem(shape);
      hipStream_t stream = make_stream(t % 2 ? hipStreamDefault : hipStreamNonBlocking);
      for (int i = 0; i < 10; ++i) {
        const Outputs outputs = problem.run(WorkspaceMode(i % 3), stream);
        CHECK(problem.compare(outputs).empty());
      }
      OK(hipStreamDestroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

CHECK_MAIN()
