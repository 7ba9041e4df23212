#include "lookup.h"

#include <algorithm>
#include <vector>

#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 17;  // what takes longer than to start a thread
constexpr size_t kFan = 64;         // values under one minimum

/// Minima of blocks of values, of blocks of these, and so on.
class Minima {
 public:
  Minima(const int64_t* values, size_t size) : values_(values) {
    for (const int64_t* below = values; size > kFan; below = levels_.back().data()) {
      std::vector<int64_t> level((size + kFan - 1) / kFan);
      for (size_t block = 0; block < level.size(); ++block) {
        const size_t first = block * kFan;
        level[block] = *std::min_element(below + first, below + std::min(first + kFan, size));
      }
      size = level.size();
      levels_.push_back(std::move(level));
    }
  }

  /// The last index in [low, high) with a value below the limit; low - 1 where there is none.
  int64_t last_below(size_t low, size_t high, int64_t limit) const {
    for (size_t at = high; at > low;) {
      // The widest block that ends here, lies in the range and has nothing below the limit.
      size_t level = 0;
      while (level < levels_.size() && at % width(level + 1) == 0 && at - low >= width(level + 1) &&
             levels_[level][at / width(level + 1) - 1] >= limit) {
        ++level;
      }
      if (level == 0 && values_[at - 1] < limit) return static_cast<int64_t>(at) - 1;
      at -= width(level);
    }
    return static_cast<int64_t>(low) - 1;
  }

 private:
  static size_t width(size_t level) { return size_t{1} << (6 * level); }

  const int64_t* values_;
  std::vector<std::vector<int64_t>> levels_;
};

}  // namespace

void positions(const int64_t* sorted, size_t size, const int64_t* asked, size_t count, Side side,
               int64_t* found) {
  for_parts(count, kGrain, [&](size_t begin, size_t end) {
    size_t at = size / 2;
    for (size_t i = begin; i < end; ++i) {
      const int64_t number = asked[i];
      at = side == Side::left
               ? from_hint(at, size, [&](size_t index) { return sorted[index] < number; })
               : from_hint(at, size, [&](size_t index) { return sorted[index] <= number; });
      found[i] = static_cast<int64_t>(at);
    }
  });
}

void last_below(const int64_t* values, size_t size, const BelowQueries& queries, int64_t* found) {
  const Minima minima(values, size);
  for_parts(queries.size, kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int64_t low = queries.low[i], high = std::max(queries.high[i], low);
      found[i] =
          minima.last_below(static_cast<size_t>(low), static_cast<size_t>(high), queries.limit[i]);
    }
  });
}

void are_members(const IntegerColumn& column, uint64_t members, bool* found) {
  with_values(column, [&](auto values) {
    for_parts(column.size, kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const auto value = static_cast<uint64_t>(values[i]);
        found[i] = value < 64 && (members >> value & 1) != 0;
      }
    });
  });
}

Column<int64_t> rows_among(const IntegerColumn& column, uint64_t members) {
  const size_t blocks = (column.size + kGrain - 1) / kGrain;
  std::vector<size_t> place(blocks + 1, 0);
  Column<int64_t> rows;
  with_values(column, [&](auto values) {
    const auto is_member = [&](size_t row) {
      const auto value = static_cast<uint64_t>(values[row]);
      return value < 64 && (members >> value & 1) != 0;
    };
    const auto each_block = [&](const auto& work) {
      for_parts(blocks, 4, [&](size_t first, size_t last) {
        for (size_t block = first; block < last; ++block) {
          work(block, block * kGrain, std::min((block + 1) * kGrain, column.size));
        }
      });
    };
    each_block([&](size_t block, size_t begin, size_t end) {
      size_t count = 0;
      for (size_t row = begin; row < end; ++row) count += is_member(row) ? 1 : 0;
      place[block + 1] = count;
    });
    for (size_t block = 0; block < blocks; ++block) place[block + 1] += place[block];
    rows.hold(place[blocks] + 1);  // one more: what is no member is written and overwritten
    rows.set_size(place[blocks]);
    each_block([&](size_t block, size_t begin, size_t end) {
      size_t at = place[block];
      for (size_t row = begin; row < end && at < place[block + 1]; ++row) {
        rows[at] = static_cast<int64_t>(row);
        at += is_member(row) ? 1 : 0;
      }
    });
  });
  return rows;
}

}  // namespace overlap_native
