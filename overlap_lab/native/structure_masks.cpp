#include "structure_masks.h"

#include "avx2_bytes.h"

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

__attribute__((target("avx2"))) void masks_avx2(const char* text, size_t count, Masks* out) {
  for (size_t block = 0; block < count; ++block, text += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(text);
    const Avx2Bytes bytes{_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
    out[block] = {bytes.equal('"'), bytes.equal('\\'), bytes.at_most(0x1f),
                  Avx2Bytes::joined(bytes.low, bytes.high)};
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
