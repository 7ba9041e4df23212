// Each distinct text once: one block of bytes with offsets, and a code per text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "column.h"

namespace overlap_native {

class Interned {
 public:
  /// The code of a text: how many distinct ones came before it.
  uint32_t code_of(std::string_view text);

  size_t size() const { return ends_.size(); }
  void clear();
  std::string_view operator[](size_t code) const;

 private:
  struct Slot {
    uint64_t hash;
    uint32_t code;  // plus 1; 0: free
  };

  void grow();

  Column<char> bytes_;
  Column<uint64_t> ends_;
  Column<Slot> slots_;  // open addressing, a power of two, at most half full
  size_t mask_ = 0;
};

uint64_t hash_of(std::string_view text);

}  // namespace overlap_native
