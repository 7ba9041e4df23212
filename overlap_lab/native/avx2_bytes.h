// Questions to 64 bytes at once with AVX2.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstdint>

namespace overlap_native {

/// Each answer has one bit per byte.
struct Avx2Bytes {
  __m256i low, high;

  __attribute__((target("avx2"))) static uint64_t joined(__m256i low, __m256i high) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
           static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32;
  }
  __attribute__((target("avx2"))) uint64_t equal(char byte) const {
    const __m256i all = _mm256_set1_epi8(byte);
    return joined(_mm256_cmpeq_epi8(low, all), _mm256_cmpeq_epi8(high, all));
  }
  __attribute__((target("avx2"))) uint64_t at_most(char byte) const {  // unsigned
    const __m256i all = _mm256_set1_epi8(byte);
    return joined(_mm256_cmpeq_epi8(_mm256_min_epu8(low, all), low),
                  _mm256_cmpeq_epi8(_mm256_min_epu8(high, all), high));
  }
};

}  // namespace overlap_native

#endif
