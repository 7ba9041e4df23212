// What the launcher tests steer the device with: streams, a kernel that is held, a late write.
#pragma once

#include "hip_ext/gpu.h"

#if defined(HIP_EXT_TARGET_HOST)
#include "../host_runtime/gate.h"
#else
#include "gpu_steering.h"
#endif

namespace hip_ext_test {

// Enqueues a kernel that writes one number.
#if defined(HIP_EXT_TARGET_HOST)
inline void write_in_order(hipStream_t stream, int32_t* target, int32_t value) {
  launch(stream, [=] { *target = value; });
}
#else
void write_in_order(hipStream_t stream, int32_t* target, int32_t value);
#endif

}  // namespace hip_ext_test
