// What the tests steer the device with. Nothing here sleeps or polls.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "../gate.h"
#include "hip_host/hip_runtime.h"

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
