#include "csv_masks.h"

#include "avx2_bytes.h"

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

__attribute__((target("avx2"))) void masks_avx2(const char* text, size_t count, CsvMasks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(text);
    const Avx2Bytes bytes{_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
    out[block] = {bytes.equal('"'), bytes.equal(','), bytes.equal('\n') | bytes.equal('\r'),
                  Avx2Bytes::joined(bytes.low, bytes.high) | bytes.equal('\0')};
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
