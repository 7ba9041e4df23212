#include "csv_masks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace overlap_native {

namespace {

void masks_scalar(const char* text, size_t count, CsvMasks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    CsvMasks found{0, 0, 0, 0};
    for (unsigned i = 0; i < 64; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      found.quote |= static_cast<uint64_t>(byte == '"') << i;
      found.comma |= static_cast<uint64_t>(byte == ',') << i;
      found.line |= static_cast<uint64_t>(byte == '\n' || byte == '\r') << i;
      found.rare |= static_cast<uint64_t>(byte == 0 || byte >= 0x80) << i;
    }
    out[block] = found;
  }
}

#if defined(__x86_64__)

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
};

__attribute__((target("avx2"))) void masks_avx2(const char* text, size_t count, CsvMasks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(text);
    const Avx2 bytes{_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
    out[block] = {bytes.equal('"'), bytes.equal(','), bytes.equal('\n') | bytes.equal('\r'),
                  Avx2::joined(bytes.low, bytes.high) | bytes.equal('\0')};
  }
}

__attribute__((target("avx512f,avx512bw"))) void masks_avx512(const char* text, size_t count,
                                                              CsvMasks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const __m512i bytes = _mm512_loadu_si512(text);
    out[block] = {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(',')),
                  _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n')) |
                      _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\r')),
                  _mm512_movepi8_mask(bytes) | _mm512_testn_epi8_mask(bytes, bytes)};
  }
}

#endif

}  // namespace

CsvMaskBlocks csv_masks_of(Path path) {
#if defined(__x86_64__)
  if (path == Path::avx512) return masks_avx512;
  if (path == Path::avx2) return masks_avx2;
#endif
  (void)path;
  return masks_scalar;
}

}  // namespace overlap_native
