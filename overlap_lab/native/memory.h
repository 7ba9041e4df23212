// Memory of columns. That of a large one that grows is mapped, by itself: it grows without a copy,
// and what is freed goes back to the system at once, where the C library's heaps would keep it.
#pragma once

#include <cstddef>

namespace overlap_native {

struct Block {
  void* memory = nullptr;
  size_t bytes = 0;
  bool mapped = false;
};

/// Gives the block so many bytes, at least one; what it holds stays, as far as there is room.
/// `grows`: it may well be given more later. Throws std::bad_alloc, and the block is as it was.
void resize(Block& block, size_t bytes, bool grows);

void give_back(const Block& block) noexcept;

}  // namespace overlap_native
