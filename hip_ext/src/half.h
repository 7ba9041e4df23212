// fp16 and bf16 as bit patterns: the same on every target, without vendor types.
#pragma once

#include <cstdint>
#include <cstring>

#include "hip_ext/gpu.h"

namespace hip_ext {

HIP_EXT_HOST_DEVICE inline float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

HIP_EXT_HOST_DEVICE inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Both conversions round to nearest even and keep infinities and NaN. They have no branches, so
// that loops over them become vector code.
struct Bf16 {
  HIP_EXT_HOST_DEVICE static float to_float(uint16_t bits) {
    return float_of_bits(uint32_t(bits) << 16);
  }

  HIP_EXT_HOST_DEVICE static uint16_t from_float(float value) {
    const uint32_t bits = bits_of_float(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return uint16_t(is_nan ? (bits >> 16) | 0x40u : rounded);
  }
};

// GPUs have an instruction for each way, with the same result but for the bits of a NaN.
struct Fp16 {
  HIP_EXT_HOST_DEVICE static float to_float(uint16_t half) {
#if defined(__CUDA_ARCH__)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
#elif defined(__HIP_DEVICE_COMPILE__)
    _Float16 value;
    std::memcpy(&value, &half, sizeof value);
    return float(value);
#else
    const uint32_t magnitude = half & 0x7fffu;
    // Shifted into place the exponent is 112 too small, for subnormal numbers too.
    const uint32_t finite = bits_of_float(float_of_bits(magnitude << 13) * 0x1p112f);
    const uint32_t special = (magnitude << 13) | 0x7f800000u;
    return float_of_bits((magnitude >= 0x7c00u ? special : finite) | uint32_t(half & 0x8000u)
                                                                         << 16);
#endif
  }

  HIP_EXT_HOST_DEVICE static uint16_t from_float(float value) {
#if defined(__CUDA_ARCH__)
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#elif defined(__HIP_DEVICE_COMPILE__)
    const _Float16 rounded = _Float16(value);
    uint16_t half;
    std::memcpy(&half, &rounded, sizeof half);
    return half;
#else
    const uint32_t bits = bits_of_float(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    // Adding 0.5 leaves the subnormal result, rounded, in the low bits of the sum.
    const uint32_t small = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
    const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t result = magnitude < 0x38800000u ? small : normal;
    result = magnitude >= 0x477ff000u ? special : result;
    return uint16_t(result | (bits >> 16 & 0x8000u));
#endif
  }
};

}  // namespace hip_ext
