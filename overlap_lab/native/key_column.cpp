#include "key_column.h"

#include <algorithm>
#include <mutex>

#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 17;

/// The extent of some values, the least number of a signed type left out.
struct Extent {
  uint64_t least = ~uint64_t{0};
  uint64_t most = 0;
  bool absent = false;
  void join(const Extent& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    absent |= other.absent;
  }
};

template <class Value>
constexpr bool is_absent(Value value) {
  return std::is_signed_v<Value> && value == std::numeric_limits<Value>::min();
}

template <class Value>
Extent extent_of(Values<Value> values, Rows rows, size_t begin, size_t end) {
  Value least = std::numeric_limits<Value>::max(), most = std::numeric_limits<Value>::min();
  bool absent = false, any = false;
  for (size_t i = begin; i < end; ++i) {
    const Value value = values[rows[i]];
    const bool none = is_absent(value);
    absent |= none;
    any |= !none;
    least = none ? least : std::min(least, value);
    most = std::max(most, value);
  }
  if (!any) return {~uint64_t{0}, 0, absent};
  return {unsigned_order(least), unsigned_order(most), absent};
}

}  // namespace

unsigned bit_width(uint64_t top) {
  return top == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(top));
}

KeyColumn::KeyColumn(const IntegerColumn& column, Rows rows, bool descending)
    : column_(column), rows_(rows), descending_(descending) {
  if (column.stride == 0 || rows.size == 0) return;  // a single value
  with_values(column, [this](auto values) { measure(values); });
  bits_ = bit_width(top_);
}

template <class Value>
void KeyColumn::measure(Values<Value> values) {
  Extent all;
  std::mutex joining;
  for_parts(rows_.size, kGrain, [&](size_t begin, size_t end) {
    const Extent mine = extent_of(values, rows_, begin, end);
    const std::lock_guard<std::mutex> lock(joining);
    all.join(mine);
  });
  if (all.least > all.most) return;  // nothing but absent
  absent_ = all.absent;
  least_ = all.least;
  top_ = all.most - all.least + (absent_ ? 1 : 0);
}

template <class Value>
uint64_t KeyColumn::key(Value value) const {
  const uint64_t above = unsigned_order(value) - least_;
  const uint64_t number = !absent_ ? above : is_absent(value) ? 0 : above + 1;
  return descending_ ? top_ - number : number;
}

void KeyColumn::add(uint64_t* into, size_t begin, size_t end, const uint32_t* order,
                    Slice slice) const {
  const uint64_t mask = slice.count == 64 ? ~uint64_t{0} : (uint64_t{1} << slice.count) - 1;
  with_values(column_, [&](auto values) {
    for (size_t i = begin; i < end; ++i) {
      const size_t row = rows_[order == nullptr ? i : order[i]];
      into[i - begin] |= (key(values[row]) >> slice.from & mask) << slice.to;
    }
  });
}

}  // namespace overlap_native
