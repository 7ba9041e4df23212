// A column of numbers as codes: what most rows share is kept once.
#pragma once

#include <cstdint>
#include <cstring>

#include "column.h"

namespace overlap_native {

class NumberCodes {
 public:
  /// The code of a number: how many distinct ones came before it.
  int32_t code_of(int64_t number) {
    if (values.size() == 0 || values[static_cast<size_t>(last_)] != number) last_ = found(number);
    return last_;
  }

  Column<int64_t> values;  // by code

 private:
  int32_t found(int64_t number) {
    if (2 * values.size() >= slots_.size()) grow();
    size_t at = slot_of(number);
    for (; slots_[at] != 0; at = (at + 1) & mask_) {
      if (values[static_cast<size_t>(slots_[at] - 1)] == number) return slots_[at] - 1;
    }
    values.push(number);
    slots_[at] = static_cast<int32_t>(values.size());
    return slots_[at] - 1;
  }
  size_t slot_of(int64_t number) const {
    const uint64_t mixed = static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15ULL;
    return (mixed ^ mixed >> 32) & mask_;
  }
  void grow() {
    const size_t size = slots_.size() == 0 ? 64 : 2 * slots_.size();
    slots_.hold(size);
    slots_.set_size(size);
    std::memset(slots_.data(), 0, size * sizeof(int32_t));
    mask_ = size - 1;
    for (size_t code = 0; code < values.size(); ++code) {
      size_t at = slot_of(values[code]);
      while (slots_[at] != 0) at = (at + 1) & mask_;
      slots_[at] = static_cast<int32_t>(code + 1);
    }
  }

  Column<int32_t> slots_;  // code plus 1; 0: free; a power of two, at most half full
  size_t mask_ = 0;
  int32_t last_ = 0;  // rows in a row are often alike
};

}  // namespace overlap_native
