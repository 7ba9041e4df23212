// The checksum of gzip.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// The checksum of text whose first part has the checksum `before`; 0 for none.
uint32_t crc32(uint32_t before, const uint8_t* text, size_t size);

/// As above without the instructions that only some machines have.
uint32_t crc32_plain(uint32_t before, const uint8_t* text, size_t size);

}  // namespace overlap_native
