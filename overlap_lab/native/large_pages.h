// Memory in large pages, which the system maps several times faster than small ones.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// Asks for large pages where a block of fresh memory has room for some.
inline void advise_large(void* memory, size_t size) {
  constexpr uintptr_t kLarge = 2 * 1024 * 1024;
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + kLarge - 1) / kLarge * kLarge;
  const auto end = (reinterpret_cast<uintptr_t>(memory) + size) / kLarge * kLarge;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace overlap_native
