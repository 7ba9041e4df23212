// What the tests steer the device with. Nothing here sleeps or polls.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "../check.h"
#include "hip_host/hip_runtime.h"

#define OK(call) CHECK((call) == hipSuccess)

inline constexpr std::chrono::milliseconds patience{100};

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
  /// For what must not happen: false after `patience` of nothing. A right runtime always uses up
  /// the patience, so a slow machine cannot make the test fail.
  bool opens_within(std::chrono::milliseconds patience) {
    std::unique_lock guard(mutex_);
    return opened_.wait_for(guard, patience, [this] { return open_; });
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
  ~HeldKernel() { release(); }
  void wait_started() { state_->started.wait(); }
  void release() { state_->released.open(); }

 private:
  struct State {
    Gate started, released;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A call on a thread of its own: whether it returns while the device is held.
class Call {
 public:
  explicit Call(std::function<void()> call)
      : thread_([this, call = std::move(call)] {
          call();
          returned_.open();
        }) {}
  ~Call() { thread_.join(); }
  bool returns_within(std::chrono::milliseconds limit) { return returned_.opens_within(limit); }
  void wait() { returned_.wait(); }

 private:
  Gate returned_;
  std::thread thread_;
};
