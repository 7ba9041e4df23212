#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace overlap_native {

namespace {

constexpr size_t kMappedFrom = size_t{1} << 18;  // bytes
constexpr size_t kLarge = size_t{1} << 22;       // bytes that are worth large pages

// The address sanitizers watch what malloc gives, and not what is mapped.
#if defined(__SANITIZE_ADDRESS__)
#define OVERLAP_NATIVE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OVERLAP_NATIVE_WATCHED 1
#endif
#endif

#if defined(MREMAP_MAYMOVE) && !defined(OVERLAP_NATIVE_WATCHED)
constexpr bool kMaps = true;
#else
constexpr bool kMaps = false;
#endif

size_t page_size() {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

/// A fresh page costs as much as the work on it, and one of 2 MB little more than one of 4 KB.
/// Asked of whole pages only, of a mapped block for all: a part of it could not grow with the rest.
void prefer_large_pages(const Block& block) {
#if defined(MADV_HUGEPAGE)
  if (block.bytes < kLarge) return;
  const size_t page = page_size();
  const auto begin = (reinterpret_cast<uintptr_t>(block.memory) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(block.memory) + block.bytes;
  madvise(reinterpret_cast<void*>(begin), (end - begin) / page * page, MADV_HUGEPAGE);  // or not
#else
  (void)block;
#endif
}

Block mapped(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {memory, bytes, true};
}

Block moved(const Block& block, Block to) {
  if (block.bytes != 0) std::memcpy(to.memory, block.memory, std::min(block.bytes, to.bytes));
  give_back(block);
  return to;
}

Block remapped(const Block& block, size_t bytes) {
#if defined(MREMAP_MAYMOVE)
  void* memory = mremap(block.memory, block.bytes, bytes, MREMAP_MAYMOVE);
  if (memory != MAP_FAILED) return {memory, bytes, true};
#endif
  return moved(block, mapped(bytes));
}

Block reallocated(const Block& block, size_t bytes) {
  void* memory = std::realloc(block.memory, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, bytes, false};
}

}  // namespace

void resize(Block& block, size_t bytes, Use use) {
  const size_t page = page_size(), whole = (bytes + page - 1) / page * page;
  if (block.mapped) {
    block = remapped(block, whole);
  } else if (kMaps && use == Use::grows && bytes >= kMappedFrom) {
    block = moved(block, mapped(whole));
  } else {
    block = reallocated(block, bytes);
  }
  if (use != Use::kept) prefer_large_pages(block);
}

void give_back(const Block& block) noexcept {
  if (block.mapped) {
    munmap(block.memory, block.bytes);
  } else {
    std::free(block.memory);
  }
}

}  // namespace overlap_native
