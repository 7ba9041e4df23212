#include "structure_masks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace overlap_native {

void masks_scalar(const char* text, size_t count, Masks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    Masks found{0, 0, 0, 0};
    for (unsigned i = 0; i < 64; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      found.quote |= static_cast<uint64_t>(byte == '"') << i;
      found.backslash |= static_cast<uint64_t>(byte == '\\') << i;
      found.control |= static_cast<uint64_t>(byte < 0x20) << i;
      found.high |= static_cast<uint64_t>(byte >= 0x80) << i;
    }
    out[block] = found;
  }
}

#if defined(__x86_64__)

namespace {

struct Avx2 {
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

}  // namespace

__attribute__((target("avx2"))) void masks_avx2(const char* text, size_t count, Masks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(text);
    const Avx2 bytes{_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
    out[block] = {bytes.equal('"'), bytes.equal('\\'), bytes.at_most(0x1f),
                  Avx2::joined(bytes.low, bytes.high)};
  }
}

__attribute__((target("avx512f,avx512bw"))) void masks_avx512(const char* text, size_t count,
                                                              Masks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const __m512i bytes = _mm512_loadu_si512(text);
    out[block] = {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
                  _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)),
                  _mm512_movepi8_mask(bytes)};
  }
}

#endif

}  // namespace overlap_native
