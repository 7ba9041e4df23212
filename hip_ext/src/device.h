// What the vendors' device languages say differently, and words of 16-bit numbers; for .hip files.
#pragma once

#include <atomic>
#include <cstdint>

#include "hip_ext/gpu.h"

namespace hip_ext {

// Four floats, and eight or four 16-bit numbers: one access of 16 or 8 bytes each.
struct alignas(16) Float4 {
  float value[4];
};

template <int Halves>
struct alignas(2 * Halves) Words {
  uint32_t word[Halves / 2];
};

template <typename Half, int Halves>
__device__ inline void unpack(const Words<Halves>& words, float (&values)[Halves]) {
#pragma unroll
  for (int i = 0; i < Halves / 2; ++i) {
    values[2 * i] = Half::to_float(uint16_t(words.word[i]));
    values[2 * i + 1] = Half::to_float(uint16_t(words.word[i] >> 16));
  }
}

template <typename Half, int Halves>
__device__ inline Words<Halves> pack(const float (&values)[Halves]) {
  Words<Halves> words;
#pragma unroll
  for (int i = 0; i < Halves / 2; ++i) {
    words.word[i] = uint32_t(Half::from_float(values[2 * i])) |
                    uint32_t(Half::from_float(values[2 * i + 1])) << 16;
  }
  return words;
}

// Halves from a tensor. Not `aligned`: its rows may begin at any element.
template <int Halves>
__device__ inline Words<Halves> read_words(const uint16_t* source, bool aligned) {
  if (aligned) return *reinterpret_cast<const Words<Halves>*>(source);
  Words<Halves> words;
#pragma unroll
  for (int i = 0; i < Halves / 2; ++i) {
    words.word[i] = uint32_t(source[2 * i]) | uint32_t(source[2 * i + 1]) << 16;
  }
  return words;
}

template <int Halves>
__device__ inline void write_words(uint16_t* target, const Words<Halves>& words, bool aligned) {
  if (aligned) {
    *reinterpret_cast<Words<Halves>*>(target) = words;
    return;
  }
#pragma unroll
  for (int i = 0; i < Halves / 2; ++i) {
    target[2 * i] = uint16_t(words.word[i]);
    target[2 * i + 1] = uint16_t(words.word[i] >> 16);
  }
}

// A kernel's parameters, read here and not before. Clang reads them all at the kernel's start, and
// together they do not fit into AMD's scalar registers.
template <typename Parameters>
__device__ inline const Parameters& read_here(const Parameters& parameters) {
#if defined(HIP_EXT_TARGET_HIP) && defined(__HIP_DEVICE_COMPILE__)
  uint32_t nothing = 0;
  asm volatile("" : "+s"(nothing));
  return *reinterpret_cast<const Parameters*>(reinterpret_cast<const char*>(&parameters) + nothing);
#else
  return parameters;
#endif
}

// Adds to 16-aligned memory that other blocks add to as well, in any order.
__device__ inline void add_atomically(float* target, const Float4& values) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float4*>(target),
            make_float4(values.value[0], values.value[1], values.value[2], values.value[3]));
#else
  for (int i = 0; i < 4; ++i) {
#if defined(HIP_EXT_TARGET_HIP)
    unsafeAtomicAdd(target + i, values.value[i]);  // the hardware's own; the other may be a loop
#else
    atomicAdd(target + i, values.value[i]);
#endif
  }
#endif
}

// CUDA wants to be asked, once per kernel and device, before a block gets more than 48 KB.
template <auto kernel>
void allow_lds(size_t bytes) {
#if defined(HIP_EXT_TARGET_CUDA)
  static std::atomic<uint64_t> allowed{0};
  int device = 0;
  GPU_CHECK(hipGetDevice(&device));
  const uint64_t bit = uint64_t(1) << (device % 64);
  if (device < 64 && (allowed & bit) != 0) return;
  GPU_CHECK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  allowed |= bit;
#else
  (void)bytes;
#endif
}

}  // namespace hip_ext
