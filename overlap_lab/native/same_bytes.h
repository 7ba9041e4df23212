// Whether short texts are equal, 16 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overlap_native {

#if defined(__SSE2__)
/// Bit per byte that differs, of 16.
inline uint32_t other_bytes(const char* left, const char* right) {
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b))) ^ 0xffff;
}
#endif

/// Compares `length` bytes, 1 to 64. All of 64 bytes may be read on both sides.
inline bool same_bytes(const char* left, const char* right, size_t length) {
#if defined(__SSE2__)
  uint32_t other = other_bytes(left, right) | other_bytes(left + 16, right + 16) << 16;
  if (length <= 32) return other << (32 - length) == 0;
  if (other != 0) return false;
  other = other_bytes(left + 32, right + 32) | other_bytes(left + 48, right + 48) << 16;
  return other << (64 - length) == 0;
#else
  return std::memcmp(left, right, length) == 0;
#endif
}

}  // namespace overlap_native
