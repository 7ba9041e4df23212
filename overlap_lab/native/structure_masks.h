// One bit for each of 64 bytes: the only part of the scan that is written per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

struct Masks {
  uint64_t quote;
  uint64_t backslash;
  uint64_t control;  // below 0x20
  uint64_t high;     // 0x80 and above
};

/// Masks of `count` blocks of 64 bytes each.
using MaskBlocks = void (*)(const char* text, size_t count, Masks* out);

void masks_scalar(const char* text, size_t count, Masks* out);
#if defined(__x86_64__)
void masks_avx2(const char* text, size_t count, Masks* out);
void masks_avx512(const char* text, size_t count, Masks* out);
#endif

}  // namespace overlap_native
