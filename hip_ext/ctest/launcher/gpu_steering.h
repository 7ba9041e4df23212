// gate.h's streams and held kernel for a GPU.
#pragma once

#include <cstdint>

#include "../gate.h"
#include "hip_ext/gpu.h"

inline hipStream_t make_stream(unsigned flags = hipStreamDefault) {
  hipStream_t stream = nullptr;
  OK(hipStreamCreateWithFlags(&stream, flags));
  return stream;
}

/// A kernel that runs until the test lets it go.
class HeldKernel {
 public:
  explicit HeldKernel(hipStream_t stream);
  ~HeldKernel() { release(); }
  HeldKernel(const HeldKernel&) = delete;
  HeldKernel& operator=(const HeldKernel&) = delete;

  void wait_started() const;
  void release() { flags_->released = 1; }

  struct Flags {
    volatile int32_t started;
    volatile int32_t released;
  };

 private:
  Flags* flags_ = nullptr;  // pinned; never freed, as that would wait for the device
};
