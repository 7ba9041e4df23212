// What the tests steer the device with. Nothing here sleeps or polls.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "../check.h"
#include "hip_host/hip_runtime.h"

#define OK(call) CHECK((call) == hipSuccess)

/// Opened once; whoever waits passes from then on.
class Gate {
 public:
  void open() {
    std::lock_guard guard(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock guard(mutex_);
    opened_.wait(guard, [this] { return open_; });
  }
  bool is_open() {
    std::lock_guard guard(mutex_);
    return open_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

inline void launch(hipStream_t stream, std::function<void()> body, const char* name = "kernel") {
  OK(hip_host::launch_kernel(name, dim3(1), dim3(1), /*lds_bytes=*/0, stream, std::move(body)));
}

inline hipStream_t make_stream(unsigned flags = hipStreamDefault) {
  hipStream_t stream = nullptr;
  OK(hipStreamCreateWithFlags(&stream, flags));
  return stream;
}

/// A kernel that runs until the test lets it go.
class HeldKernel {
 public:
  explicit HeldKernel(hipStream_t stream) {
    launch(stream, [state = state_] {
      state->started.open();
      state->released.wait();
    });
  }
  void wait_started() { state_->started.wait(); }
  void release() { state_->released.open(); }

 private:
  struct State {
    Gate started, released;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};
