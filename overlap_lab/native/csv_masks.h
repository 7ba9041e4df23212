// What 64 bytes of CSV text hold, one bit a byte: the only part of the index that is written per
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structure.h"

namespace overlap_native {

struct CsvMasks {
  uint64_t quote;
  uint64_t comma;
  uint64_t line;  // a line feed or a carriage return
  uint64_t rare;  // zero, or 0x80 and above
};

/// Masks of `count` blocks of 64 bytes each.
using CsvMaskBlocks = void (*)(const char* text, size_t count, CsvMasks* out);

CsvMaskBlocks csv_masks_of(Path path);

}  // namespace overlap_native
