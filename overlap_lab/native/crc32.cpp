#include "crc32.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace overlap_native {

namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // its bits reversed, as all here

/// Of each byte, and of each with 1 to 7 zero bytes behind it.
constexpr std::array<std::array<uint32_t, 256>, 8> tables() {
  std::array<std::array<uint32_t, 256>, 8> result{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? kPolynomial : 0);
    result[0][byte] = rest;
  }
  for (size_t zeros = 1; zeros < 8; ++zeros) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = result[zeros - 1][byte];
      result[zeros][byte] = before >> 8 ^ result[0][before & 0xff];
    }
  }
  return result;
}

constexpr auto kTables = tables();

/// The checksum without the inversions around it.
uint32_t remainder_of(uint32_t before, const uint8_t* text, size_t size) {
  for (; size >= 8; size -= 8, text += 8) {
    uint64_t word;
    std::memcpy(&word, text, sizeof word);
    word ^= before;
    before = 0;
    for (size_t byte = 0; byte < 8; ++byte) before ^= kTables[7 - byte][word >> 8 * byte & 0xff];
  }
  for (; size != 0; --size) before = before >> 8 ^ kTables[0][(before ^ *text++) & 0xff];
  return before;
}

#if defined(__x86_64__)

#define FOLDING __attribute__((target("pclmul,sse4.1")))

FOLDING __m128i loaded(const uint8_t* text) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
}

/// What stands so far before `next` that it counts as the distance's powers `by`.
FOLDING __m128i folded(__m128i sum, __m128i by, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(sum, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(sum, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/// 128 bits to their remainder, after Gopal and others, "Fast CRC Computation for Generic
/// Polynomials Using PCLMULQDQ", whose constants these are.
FOLDING uint32_t reduced(__m128i sum, __m128i by) {
  const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);
  const __m128i by64 = _mm_set_epi64x(0, 0x0163cd6124);
  const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by, 0x10));
  const __m128i high = _mm_srli_si128(sum, 4);
  sum = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(sum, low_words), by64, 0x00), high);
  __m128i part = _mm_clmulepi64_si128(_mm_and_si128(sum, low_words), barrett, 0x10);
  part = _mm_clmulepi64_si128(_mm_and_si128(part, low_words), barrett, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, part), 1));
}

/// Of at least 64 bytes, of which it uses a multiple of 16.
FOLDING uint32_t folded_remainder(uint32_t before, const uint8_t*& text, size_t& size) {
  const __m128i by512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  __m128i sums[4];
  for (size_t i = 0; i < 4; ++i) sums[i] = loaded(text + 16 * i);
  sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128(static_cast<int>(before)));
  text += 64;
  size -= 64;
  for (; size >= 64; size -= 64, text += 64) {
    for (size_t i = 0; i < 4; ++i) sums[i] = folded(sums[i], by512, loaded(text + 16 * i));
  }
  __m128i sum = sums[0];
  for (size_t i = 1; i < 4; ++i) sum = folded(sum, by128, sums[i]);
  for (; size >= 16; size -= 16, text += 16) sum = folded(sum, by128, loaded(text));
  return reduced(sum, by128);
}

#undef FOLDING

#endif

}  // namespace

uint32_t crc32_plain(uint32_t before, const uint8_t* text, size_t size) {
  return ~remainder_of(~before, text, size);
}

uint32_t crc32(uint32_t before, const uint8_t* text, size_t size) {
  uint32_t rest = ~before;
#if defined(__x86_64__)
  static const bool folds =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  if (folds && size >= 64) rest = folded_remainder(rest, text, size);
#endif
  return ~remainder_of(rest, text, size);
}

}  // namespace overlap_native
