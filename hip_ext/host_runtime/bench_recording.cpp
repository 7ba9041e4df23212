// What a call costs the caller, with the recorder off and on. Calls go in batches behind a held
// stream, so that no worker competes for the lock; the middle of many batches counts.
//   cmake --build build/dev --target bench_recording &&
//   build/dev/hip_ext/host_runtime/bench_recording
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <vector>

#include "hip_host/hip_runtime.h"
#include "hip_host/recorder.h"

namespace {

constexpr int batches = 101;
constexpr int calls_per_batch = 2'000;

void check(hipError_t error) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "%s\n", hipGetErrorName(error));
  std::exit(1);
}

/// Holds a stream for the life of the object.
class Hold {
 public:
  explicit Hold(hipStream_t stream) {
    check(hip_host::launch_kernel("hold", dim3(1), dim3(1), /*lds_bytes=*/0, stream, [this] {
      std::unique_lock guard(mutex_);
      released_.wait(guard, [this] { return open_; });
    }));
    stream_ = stream;
  }
  ~Hold() {
    {
      std::lock_guard guard(mutex_);
      open_ = true;
      released_.notify_all();
    }
    check(hipStreamSynchronize(stream_));
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool open_ = false;
  hipStream_t stream_ = nullptr;
};

double batch_ns_per_call(hipStream_t stream, const std::function<void()>& call) {
  Hold hold(stream);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls_per_batch; ++i) call();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / calls_per_batch;
}

double median_ns(hipStream_t stream, const std::function<void()>& call, bool recording) {
  std::vector<double> samples;
  for (int i = 0; i < batches; ++i) {
    if (recording) hip_host::recorder_start();
    samples.push_back(batch_ns_per_call(stream, call));
    hip_host::recorder_stop();
    hip_host::recorder_take();
  }
  std::nth_element(samples.begin(), samples.begin() + batches / 2, samples.end());
  return samples[batches / 2];
}

void measure(const char* name, hipStream_t stream, const std::function<void()>& call) {
  const double off = median_ns(stream, call, /*recording=*/false);
  const double on = median_ns(stream, call, /*recording=*/true);
  std::printf("%-24s %8.0f %8.0f %10.0f\n", name, off, on, on - off);
}

}  // namespace

int main() {
  hipStream_t stream = nullptr;
  char *device = nullptr, *pinned = nullptr;
  check(hipStreamCreate(&stream));
  check(hipMalloc(&device, 64));
  check(hipHostMalloc(&pinned, 64));
  std::printf("%-24s %8s %8s %10s   (ns a call, median of %d batches)\n", "", "off", "on",
              "recording", batches);
  int current = 0;
  measure("hipGetDevice", stream, [&] { check(hipGetDevice(&current)); });
  measure("hipStreamQuery", stream, [&] { (void)hipStreamQuery(stream); });
  measure("hipLaunchKernel", stream, [&] {
    check(hip_host::launch_kernel("bench", dim3(1), dim3(1), /*lds_bytes=*/0, stream, [] {}));
  });
  measure("hipMemcpyAsync (pinned)", stream,
          [&] { check(hipMemcpyAsync(pinned, device, 64, hipMemcpyDeviceToHost, stream)); });
  measure("hipMemsetAsync", stream, [&] { check(hipMemsetAsync(device, 0, 64, stream)); });
  measure("hipLaunchHostFunc", stream,
          [&] { check(hipLaunchHostFunc(stream, [](void*) {}, nullptr)); });
  check(hipFree(device));
  check(hipHostFree(pinned));
  check(hipStreamDestroy(stream));
}
