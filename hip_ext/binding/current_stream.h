// The device and the stream that a call runs on, and streams for Python.
#pragma once

#include <cstdint>
#include <optional>

#include "hip_ext/gpu.h"
#include "tensor_view.h"

namespace hip_ext {

// Host target: the stream that Python names, else the null stream. GPU: torch's current one, which
// is also the one that torch's allocator gives memory for.
hipStream_t stream_of(const std::optional<int64_t>& named, const TensorView& q);

// Makes q's device the current one of a scope. On the host target there is one device.
class OnDeviceOf {
 public:
  explicit OnDeviceOf(const TensorView& q);
  ~OnDeviceOf();
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

 private:
  DeviceGuardHandle guard_ = nullptr;
};

#if !defined(HIP_EXT_TARGET_HOST)
// A stream of torch's is non-blocking; this also makes one that the null stream waits for.
int64_t stream_create(bool blocking);

void stream_destroy(int64_t stream);

// A stream that is being captured counts as blocking: no call on it waits.
bool stream_is_blocking(int64_t stream);
#endif

}  // namespace hip_ext
