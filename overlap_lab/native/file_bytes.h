// Bytes of an open file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// Copies what stands at an offset; fewer bytes than asked for: the file ends there, or cannot be
/// read. A file that is cut short meanwhile does no harm, as it would to one that is mapped.
size_t read_at(int file, uint64_t offset, char* room, size_t size);

}  // namespace overlap_native
