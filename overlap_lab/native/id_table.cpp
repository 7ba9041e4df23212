#include "id_table.h"

#include <algorithm>
#include <stdexcept>

namespace overlap_native {

size_t IdTable::slot_of(uint64_t key) const {
  if (slots_.empty()) return 0;
  const size_t mask = slots_.size() - 1;
  size_t slot = (key * 0x9E3779B97F4A7C15u >> 20) & mask;
  while (slots_[slot].block != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

size_t IdTable::block_of(uint64_t key) {
  if (2 * (numbers_.size() / kSide) >= slots_.size()) grow();
  Slot& slot = slots_[slot_of(key)];
  if (slot.block == 0) {
    numbers_.resize(numbers_.size() + kSide, 0);
    slot = {key, static_cast<uint32_t>(numbers_.size() / kSide)};
  }
  return slot.block - 1;
}

void IdTable::grow() {
  const std::vector<Slot> before = std::move(slots_);
  slots_.assign(std::max<size_t>(256, 4 * before.size()), {});
  for (const Slot& each : before) {
    if (each.block != 0) slots_[slot_of(each.key)] = each;
  }
}

}  // namespace overlap_native
