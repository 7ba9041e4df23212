// Where numbers lie among sorted ones, and which rows have one of a few values.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "column.h"
#include "integer_column.h"
#include "threads.h"

namespace overlap_native {

/// First index in [0, size] that `before` does not hold of; it is sought from `hint` on.
template <class Before>
size_t from_hint(size_t hint, size_t size, const Before& before) {
  size_t low = hint, high = hint;
  if (hint < size && before(hint)) {
    size_t step = 1;
    do {
      low = high + 1;
      high = std::min(high + step, size);
      step *= 2;
    } while (high < size && before(high));
    low = std::min(low, high);
  } else {
    size_t step = 1;
    while (low != 0 && !before(low - 1)) {
      high = low - 1;
      low -= std::min(step, low);
      step *= 2;
    }
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

enum class Side : uint8_t { left, right };

/// For each number how many of the sorted ones are less, or for Side::right not greater. Numbers
/// that come in order, or nearly so, are found where the one before was.
void positions(const int64_t* sorted, size_t size, const int64_t* asked, size_t count, Side side,
               int64_t* found);

/// For each query the last index in [low, high) whose value is below its limit; low - 1 where none.
struct BelowQueries {
  const int64_t *low, *high, *limit;
  size_t size;
};
void last_below(const int64_t* values, size_t size, const BelowQueries& queries, int64_t* found);

/// Whether each value is one of the numbers up to 63 whose bits are set.
void are_members(const IntegerColumn& column, uint64_t members, bool* found);

/// The values of some rows, in their order. Throws std::out_of_range for a row that is not there.
template <class Value, class Row>
void gather(Values<Value> values, size_t size, const Row* rows, Column<Value>& into) {
  constexpr size_t kGrain = 1 << 17;  // what takes longer than to start a thread
  std::atomic<bool> there{true};
  for_parts(into.size(), kGrain, [&](size_t begin, size_t end) {
    bool mine = true;
    for (size_t i = begin; i < end; ++i) {
      const auto row = static_cast<size_t>(rows[i]);  // a negative one is beyond all others
      mine &= row < size;
      if (row < size) into.data()[i] = values[row];
    }
    if (!mine) there = false;
  });
  if (!there) throw std::out_of_range("gather: a row is out of range");
}

/// The indexes below `size` that `is_wanted` holds of, in order.
template <class Index, class IsWanted>
Column<Index> indexes_where(size_t size, const IsWanted& is_wanted) {
  constexpr size_t kBlock = 1 << 15;  // what is found in one stays in the second-level cache
  const size_t blocks = (size + kBlock - 1) / kBlock;
  std::vector<std::vector<Index>> found(blocks);
  for_parts(blocks, 4, [&](size_t first, size_t last) {
    std::vector<Index> mine(kBlock + 1);  // one more: what is not wanted is overwritten
    for (size_t block = first; block < last; ++block) {
      Index* next = mine.data();
      for (size_t index = block * kBlock; index < std::min((block + 1) * kBlock, size); ++index) {
        *next = static_cast<Index>(index);
        next += is_wanted(index) ? 1 : 0;
      }
      found[block].assign(mine.data(), next);
    }
  });
  size_t count = 0;
  for (const std::vector<Index>& each : found) count += each.size();
  Column<Index> all;
  all.hold(std::max<size_t>(count, 1));
  for (const std::vector<Index>& each : found) all.append(each.data(), each.size());
  return all;
}

/// The rows whose value is a member, in order.
Column<int64_t> rows_among(const IntegerColumn& column, uint64_t members);

}  // namespace overlap_native
