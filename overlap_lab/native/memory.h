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

/// What becomes of a block. Large pages are asked for but where it is kept: there a virtual machine
/// whose host has taken back what it freed waits for them longer than for the work on them.
enum class Use {
  sized,  // it has its size
  grows,  // it may well be given more later
  kept,   // it has its size, is written once and outlives the work
};

/// Gives the block so many bytes, at least one; what it holds stays, as far as there is room.
/// Throws std::bad_alloc, and the block is as it was.
void resize(Block& block, size_t bytes, Use use);

void give_back(const Block& block) noexcept;

}  // namespace overlap_native
