// Owners of the runtime's events, and the host's clock.
#pragma once

#include <chrono>
#include <cstdint>

#include "hip_ext/gpu.h"

namespace hip_ext_bench {

class Event {
 public:
  Event() { GPU_CHECK(hipEventCreate(&event_)); }
  ~Event() { GPU_CHECK_NOEXCEPT(hipEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(hipStream_t stream) { GPU_CHECK(hipEventRecord(event_, stream)); }

  // Both must have been reached. The runtimes answer in milliseconds, half a microsecond apart.
  int64_t since_ns(const Event& start) const {
    float milliseconds = 0;
    GPU_CHECK(hipEventElapsedTime(&milliseconds, start.event_, event_));
    return int64_t(double(milliseconds) * 1e6 + 0.5);
  }

 private:
  hipEvent_t event_ = nullptr;
};

inline int64_t now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace hip_ext_bench
