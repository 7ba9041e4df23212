// The memory of columns as arrays of Python own it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "memory.h"

namespace overlap_native {

/// Gives the block back when the last array on it is gone.
inline nanobind::capsule owner_of(const Block& block) {
  auto kept = std::make_unique<Block>(block);
  nanobind::capsule owner(kept.get(), [](void* pointer) noexcept {
    const std::unique_ptr<Block> gone(static_cast<Block*>(pointer));
    give_back(*gone);
  });
  kept.release();
  return owner;
}

}  // namespace overlap_native
