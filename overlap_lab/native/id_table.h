// The last of the calls that carry each id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overlap_native {

/// A number for each 64-bit id, 0 at first. Ids that are neighbours lie side by side, as those of
/// one run mostly come one after the other.
class IdTable {
 public:
  /// Remembers where the last id was found; one for each thread.
  struct Cursor {
    uint64_t key = ~uint64_t{0};
    size_t block = 0;
  };

  uint32_t& at(uint64_t id, Cursor& cursor) {
    const uint64_t key = id / kSide;
    if (key != cursor.key) cursor = {key, block_of(key)};
    return numbers_[cursor.block * kSide + id % kSide];
  }
  /// 0 for an id that was never asked for by `at`.
  uint32_t find(uint64_t id, Cursor& cursor) const {
    const uint64_t key = id / kSide;
    if (key != cursor.key) {
      const size_t slot = slot_of(key);
      if (slots_.empty() || slots_[slot].block == 0) return 0;
      cursor = {key, slots_[slot].block - 1};
    }
    return numbers_[cursor.block * kSide + id % kSide];
  }

 private:
  static constexpr size_t kSide = 8;
  struct Slot {
    uint64_t key = 0;
    uint32_t block = 0;  // plus 1
  };

  size_t slot_of(uint64_t key) const;
  size_t block_of(uint64_t key);
  void grow();

  std::vector<Slot> slots_;
  std::vector<uint32_t> numbers_;
};

}  // namespace overlap_native
