// Numbers that are 0 or more, each kept in as few bytes as the largest of them needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"

namespace overlap_native {

class NarrowColumn {
 public:
  void append(const int64_t* values, size_t count);

  size_t size() const { return size_; }
  /// Bytes of one number: 1, 2, 4 or 8.
  unsigned width() const { return width_; }
  int64_t operator[](size_t i) const;
  /// The memory; the column is empty afterwards.
  Block release();

 private:
  void widen(unsigned width);

  Column<char> bytes_;
  size_t size_ = 0;
  unsigned width_ = 1;
};

}  // namespace overlap_native
