// Columns as parts of a key: small numbers in the order of the values.
#pragma once

#include <cstdint>
#include <vector>

#include "column.h"
#include "integer_column.h"

namespace overlap_native {

/// Which rows of the columns are meant: all, or those of a list.
struct Rows {
  const int64_t* list;  // null: row i is i
  size_t size;
  size_t operator[](size_t i) const { return list == nullptr ? i : static_cast<size_t>(list[i]); }
};

/// One column of a key. Values count from the least one; the least number of a signed type, which
/// stands for "absent", comes right before the least other value, so that it costs no width.
class KeyColumn {
 public:
  KeyColumn(const IntegerColumn& column, Rows rows, bool descending);

  /// How many bits tell its values apart; 0 where they are all the same.
  unsigned bits() const { return bits_; }

  /// Sets bits of each number `into[i - begin]`, begin <= i < end: those of the key of row
  /// `order[i]` (of row i where `order` is null) from bit `from` on, `count` of them, moved to bit
  /// `to`.
  struct Slice {
    unsigned from, count, to;
  };
  void add(uint64_t* into, size_t begin, size_t end, const uint32_t* order, Slice slice) const;

 private:
  template <class Value>
  uint64_t key(Value value) const;
  template <class Value>
  void measure(Values<Value> values);

  IntegerColumn column_;
  Rows rows_;
  bool descending_;
  bool absent_ = false;  // whether the least number of the type occurs
  uint64_t least_ = 0;   // of the others, in unsigned order
  uint64_t top_ = 0;
  unsigned bits_ = 0;
};

/// How many bits the numbers up to `top` need.
unsigned bit_width(uint64_t top);

}  // namespace overlap_native
