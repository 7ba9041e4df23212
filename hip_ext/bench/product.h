// The kernel that keeps a stream busy.
#pragma once

#include "hip_ext/gpu.h"

namespace hip_ext_bench {

// Sizes are multiples of this.
constexpr int kProductStep = 64;

// On a GPU about as long as a 4096^3 bf16 product of a tuned library; on the CPU half a
// millisecond.
#if defined(HIP_EXT_TARGET_HOST)
constexpr int kDefaultProduct = 128;
#else
constexpr int kDefaultProduct = 1024;
#endif

// Enqueues c = a * b for n x n fp32 matrices in rows: one kernel. Does not block.
void launch_product(const float* a, const float* b, float* c, int n, hipStream_t stream);

}  // namespace hip_ext_bench
