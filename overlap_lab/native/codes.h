// Small numbers for the distinct rows of some columns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"
#include "integer_column.h"
#include "key_column.h"

namespace overlap_native {

/// Keys of at most 64 bits, made from columns on the fly, a block at a time.
class PackedKeys {
 public:
  explicit PackedKeys(std::vector<KeyColumn> keys) : keys_(std::move(keys)) {}
  unsigned bits() const;
  /// Calls `work(begin, end, keys)` for the rows [begin, end) of every block in [first, last).
  template <class Work>
  void each_block(size_t first, size_t last, const Work& work) const {
    uint64_t keys[kBlock];
    for (size_t begin = first; begin < last; begin += kBlock) {
      const size_t end = last - begin < kBlock ? last : begin + kBlock;
      fill(keys, begin, end);
      work(begin, end, keys);
    }
  }

 private:
  static constexpr size_t kBlock = 1 << 12;
  void fill(uint64_t* keys, size_t begin, size_t end) const;
  std::vector<KeyColumn> keys_;
};

/// A number for each row, from 0 on without a hole: equal for equal rows, greater for what comes
/// later in the order of the columns, the first of which counts most.
Column<int64_t> dense_codes(const std::vector<IntegerColumn>& columns, Rows rows,
                            const std::function<void()>& interrupted);

/// The first row of each distinct one, in the order of the columns.
Column<int64_t> distinct_rows(const std::vector<IntegerColumn>& columns, Rows rows,
                              const std::function<void()>& interrupted);

}  // namespace overlap_native
