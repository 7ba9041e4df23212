#include <dlfcn.h>

#include "current_stream.h"
#include "refusal.h"

namespace hip_ext {

namespace {

using CurrentStream = AOTITorchError (*)(int32_t device, void** stream);

// Looked up where torch has loaded it, so that this library loads into a torch without a GPU too.
CurrentStream current_stream_of_torch() {
  static const CurrentStream found = [] {
    for (const char* library : {"libtorch_cuda.so", "libtorch_hip.so"}) {
      void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
      if (loaded == nullptr) continue;
      void* function = dlsym(loaded, "aoti_torch_get_current_cuda_stream");
      if (function != nullptr) return reinterpret_cast<CurrentStream>(function);
    }
    return static_cast<CurrentStream>(nullptr);
  }();
  if (found == nullptr) refuse("q", "this torch was built without a GPU's runtime");
  return found;
}

hipStream_t stream_from(int64_t number) { return reinterpret_cast<hipStream_t>(uintptr_t(number)); }

}  // namespace

hipStream_t stream_of(const std::optional<int64_t>& named, const TensorView& q) {
  if (named) refuse("stream", "on a GPU the op runs on torch's current stream");
  void* stream = nullptr;
  if (current_stream_of_torch()(q.device_index(), &stream) != AOTI_TORCH_SUCCESS) {
    throw GpuError("torch gave no current stream for the device of q");
  }
  return static_cast<hipStream_t>(stream);
}

// Mostly it is the current one already, and torch is not asked.
OnDeviceOf::OnDeviceOf(const TensorView& q) {
  int current = 0;
  GPU_CHECK(hipGetDevice(&current));
  if (current == q.device_index()) return;
  if (aoti_torch_create_device_guard(q.device_index(), &guard_) != AOTI_TORCH_SUCCESS) {
    throw GpuError("torch could not make the device of q the current one");
  }
}

OnDeviceOf::~OnDeviceOf() {
  if (guard_ != nullptr) aoti_torch_delete_device_guard(guard_);
}

int64_t stream_create(bool blocking) {
  hipStream_t stream = nullptr;
  GPU_CHECK(hipStreamCreateWithFlags(&stream, blocking ? hipStreamDefault : hipStreamNonBlocking));
  return int64_t(reinterpret_cast<uintptr_t>(stream));
}

void stream_destroy(int64_t stream) { GPU_CHECK(hipStreamDestroy(stream_from(stream))); }

bool stream_is_blocking(int64_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  GPU_CHECK(hipStreamIsCapturing(stream_from(stream), &status));
  if (status != hipStreamCaptureStatusNone) return true;  // the question would end the capture
  unsigned flags = 0;
  GPU_CHECK(hipStreamGetFlags(stream_from(stream), &flags));
  return (flags & hipStreamNonBlocking) == 0;
}

}  // namespace hip_ext
