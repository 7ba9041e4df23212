// Eight threads on eight streams, everything at once, recording on: for the sanitizers, and for the
// sums at the end.
#include <array>
#include <atomic>
#include <vector>

#include "gate.h"
#include "hip_host/recorder.h"

namespace {

constexpr int thread_count = 8;
constexpr int stream_count = 8;
constexpr int rounds = 60;

struct Shared {
  std::array<hipStream_t, stream_count> streams;
  std::array<hipEvent_t, stream_count> events;
  std::array<std::atomic<int>, stream_count> kernels{};
  std::atomic<int> host_functions{0};
};

/// One thread's own buffers; the streams are everybody's.
class Worker {
 public:
  Worker(Shared& shared, int index) : shared_(shared), index_(index) {
    OK(hipMalloc(&device_, 64));
    OK(hipHostMalloc(&pinned_, 64));
  }
  ~Worker() {
    OK(hipFree(device_));
    OK(hipHostFree(pinned_));
  }

  void round(int number) {
    const int at = (index_ + number) % stream_count;
    hipStream_t stream = shared_.streams[at];
    launch(stream, [counter = &shared_.kernels[at]] { ++*counter; });
    OK(hipMemsetAsync(device_, number, 64, stream));
    OK(hipMemcpyAsync(pinned_, device_, 64, hipMemcpyDeviceToHost, stream));
    OK(hipLaunchHostFunc(
        stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); },
        &shared_.host_functions));
    OK(hipEventRecord(shared_.events[at], stream));
    OK(hipStreamWaitEvent(shared_.streams[(at + 1) % stream_count], shared_.events[at], 0));
    (void)hipEventQuery(shared_.events[at]);
    if (number % 4 == 0) check_round(number, stream);
    if (number % 5 == 0) allocate();
    if (number % 7 == 0) launch(nullptr, [] {});
    if (number % 11 == 0) replay();
  }

 private:
  void check_round(int number, hipStream_t stream) {
    OK(hipStreamSynchronize(stream));
    CHECK(pinned_[63] == static_cast<char>(number));
    char pageable[64];
    OK(hipMemcpy(pageable, device_, 64, hipMemcpyDeviceToHost));
    CHECK(pageable[0] == static_cast<char>(number));
    OK(hipMemcpyAsync(pageable, device_, 64, hipMemcpyDeviceToHost, stream));
    CHECK(pageable[63] == static_cast<char>(number));
  }

  void allocate() {
    void* more = nullptr;
    OK(hipMalloc(&more, 4096));
    OK(hipFree(more));
  }

  /// A stream of its own, captured and launched: streams come and go while others run.
  void replay() {
    hipStream_t stream = make_stream(hipStreamNonBlocking);
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    int runs = 0;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    launch(stream, [&runs] { ++runs; });
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; ++i) OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(runs == 3);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
  }

  Shared& shared_;
  int index_;
  char* device_ = nullptr;
  char* pinned_ = nullptr;
};

TEST(eight_threads_on_eight_streams) {
  Shared shared;
  for (int i = 0; i < stream_count; ++i) {
    shared.streams[i] = make_stream(i % 2 == 0 ? hipStreamDefault : hipStreamNonBlocking);
    OK(hipEventCreate(&shared.events[i]));
  }
  hip_host::recorder_start();
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&shared, t] {
      Worker worker(shared, t);
      for (int number = 0; number < rounds; ++number) worker.round(number);
      // Not hipDeviceSynchronize: another thread may be capturing.
      for (hipStream_t stream : shared.streams) OK(hipStreamSynchronize(stream));
    });
  }
  size_t taken = 0;
  for (int i = 0; i < 50; ++i) taken += hip_host::recorder_take().host_functions.size();
  for (std::thread& thread : threads) thread.join();
  OK(hipDeviceSynchronize());
  hip_host::recorder_stop();
  taken += hip_host::recorder_take().host_functions.size();
  int kernels = 0;
  for (const auto& count : shared.kernels) kernels += count;
  CHECK(kernels == thread_count * rounds);
  CHECK(shared.host_functions == thread_count * rounds);
  CHECK(taken == static_cast<size_t>(thread_count * rounds));
  for (int i = 0; i < stream_count; ++i) {
    OK(hipEventDestroy(shared.events[i]));
    OK(hipStreamDestroy(shared.streams[i]));
  }
}

}  // namespace

CHECK_MAIN()
