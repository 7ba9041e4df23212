#include <thread>

#include "steering.h"

namespace {

__global__ void hold(HeldKernel::Flags* flags) {
  flags->started = 1;
  __threadfence_system();
  while (flags->released == 0) {
  }
}

__global__ void write(int32_t* target, int32_t value) { *target = value; }

}  // namespace

HeldKernel::HeldKernel(hipStream_t stream) {
  void* memory = nullptr;
  OK(hipHostMalloc(&memory, sizeof(Flags), hipHostMallocDefault));
  flags_ = new (memory) Flags{0, 0};
  GPU_LAUNCH(hold, dim3(1), dim3(1), /*lds_bytes=*/0, stream, flags_);
}

void HeldKernel::wait_started() const {
  while (flags_->started == 0) std::this_thread::yield();
}

namespace hip_ext_test {

void write_in_order(hipStream_t stream, int32_t* target, int32_t value) {
  GPU_LAUNCH(write, dim3(1), dim3(1), /*lds_bytes=*/0, stream, target, value);
}

}  // namespace hip_ext_test
