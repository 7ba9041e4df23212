// Threads with their own streams, while another allocates and frees: no deadlock, and right
// results.
#include <atomic>
#include <thread>

#include "hip_ext/pinned.h"
#include "problem.h"
#include "steering.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

#if defined(HIP_EXT_TARGET_HOST)
constexpr int kThreads = 4, kCalls = 60, kCallsBetweenChecks = 20;
#else
constexpr int kThreads = 8, kCalls = 2000, kCallsBetweenChecks = 100;
#endif

Shape shape_of_thread(int thread) {
  Shape shape;
  shape.mask = Mask::causal;
  shape.hdim_q = shape.hdim_v = 32;
  shape.sequences = {{20 + thread, 200}, {30, 10 + thread}};
  return shape;
}

// Mostly the modes that do not wait; blocks mostly from the pool.
void enqueue(Problem& problem, Allocators& allocators, int call, hipStream_t stream) {
  LaunchOptions options;
  options.workspace = call % 2 == 0 ? WorkspaceMode::async : WorkspaceMode::device;
  if (call % 50 == 49) options.workspace = WorkspaceMode::sync;
  allocators.pinned_host_alloc = allocate_pinned;
  if (call % 10 != 0) {
    allocators.pinned_host_alloc = [](size_t bytes) {
      return PinnedPool::instance().allocate(bytes);
    };
  }
  fmha_bwd(problem.params(), options, allocators, stream);
}

void run_calls(int thread) {
  Problem problem(shape_of_thread(thread));
  const Outputs expected = problem.run(WorkspaceMode::device);
  CHECK(problem.compare(expected).empty());
  Allocators allocators = problem.allocators();
  hipStream_t stream = make_stream(thread % 2 ? hipStreamDefault : hipStreamNonBlocking);
  for (int call = 0; call < kCalls; ++call) {
    enqueue(problem, allocators, call, stream);
    if (call % kCallsBetweenChecks != kCallsBetweenChecks - 1) continue;
    OK(hipStreamSynchronize(stream));
    CHECK(problem.download() == expected);
    problem.poison_outputs();
  }
  OK(hipStreamDestroy(stream));
}

void allocate_and_free(const std::atomic<bool>& done) {
  while (!done) {
    void *device = nullptr, *pinned = nullptr;
    OK(hipMalloc(&device, 1 << 16));
    OK(hipHostMalloc(&pinned, 1 << 16, hipHostMallocDefault));
    OK(hipFree(device));
    OK(hipHostFree(pinned));
  }
}

TEST(threads_streams_and_frees_get_along) {
  std::atomic<bool> done{false};
  std::thread frees([&] { allocate_and_free(done); });
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread] { run_calls(thread); });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  frees.join();
  hip_ext::check();
}

}  // namespace

CHECK_MAIN()
