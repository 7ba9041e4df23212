#include "codes.h"

#include <algorithm>
#include <memory>

#include "ordering.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;
constexpr size_t kSmallTable = 1 << 16;
constexpr unsigned kSlotBits = 13;
constexpr size_t kSlots = 1 << kSlotBits;
constexpr size_t kMostInSlots = kSlots / 2;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Table = std::unique_ptr<uint32_t[], Free>;

Table zeros(size_t size) {
  Table table(static_cast<uint32_t*>(std::calloc(size, sizeof(uint32_t))));
  if (!table) throw std::bad_alloc();
  return table;
}

/// For keys out of a small range: an entry for each possible one.
Column<int64_t> by_table(const PackedKeys& keys, size_t size) {
  const size_t possible = size_t{1} << keys.bits();
  Table table = zeros(possible);
  for_parts(size, kGrain, [&](size_t first, size_t last) {
    keys.each_block(first, last, [&](size_t begin, size_t end, const uint64_t* key) {
      for (size_t i = 0; i < end - begin; ++i) {
        uint32_t* entry = &table[key[i]];  // read first: several threads may set the same ones
        if (__atomic_load_n(entry, __ATOMIC_RELAXED) == 0) {
          __atomic_store_n(entry, 1, __ATOMIC_RELAXED);
        }
      }
    });
  });
  uint32_t next = 0;
  for (size_t key = 0; key < possible; ++key) {
    if (table[key] != 0) table[key] = next++;
  }
  Column<int64_t> codes = sized_column<int64_t>(size);
  for_parts(size, kGrain, [&](size_t first, size_t last) {
    keys.each_block(first, last, [&](size_t begin, size_t end, const uint64_t* key) {
      for (size_t i = begin; i < end; ++i) codes[i] = table[key[i - begin]];
    });
  });
  return codes;
}

/// For few keys out of a large range: a hash table that gives up where there are many.
class FewKeys {
 public:
  /// The key's number in order of appearance; false where there is no room for another.
  bool number(uint64_t key, size_t row, int64_t& number) {
    size_t slot = key * 0x9E3779B97F4A7C15u >> (64 - kSlotBits);
    while (slots_[slot] >= 0) {
      if (distinct_[static_cast<size_t>(slots_[slot])] == key) {
        number = slots_[slot];
        return true;
      }
      slot = (slot + 1) % kSlots;
    }
    if (distinct_.size() == kMostInSlots) return false;
    number = slots_[slot] = static_cast<int64_t>(distinct_.size());
    distinct_.push_back(key);
    first_rows_.push_back(static_cast<int64_t>(row));
    return true;
  }
  /// For each number in order of appearance the one in order of keys.
  std::vector<int64_t> ranks() const {
    std::vector<uint64_t> sorted(distinct_);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int64_t> result;
    for (const uint64_t key : distinct_) {
      result.push_back(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin());
    }
    return result;
  }

  /// The row in which each key came first, in order of keys.
  std::vector<int64_t> first_rows() const {
    const std::vector<int64_t> rank = ranks();
    std::vector<int64_t> rows(rank.size());
    for (size_t i = 0; i < rank.size(); ++i) rows[static_cast<size_t>(rank[i])] = first_rows_[i];
    return rows;
  }

 private:
  std::vector<int64_t> slots_ = std::vector<int64_t>(kSlots, -1);
  std::vector<uint64_t> distinct_;
  std::vector<int64_t> first_rows_;
};

/// Calls `numbered(row, number)` for each row; false where the keys are too many.
template <class Numbered>
bool number_rows(const PackedKeys& keys, size_t size, FewKeys& few, const Numbered& numbered) {
  bool fits = true;
  uint64_t last_key = 0;
  int64_t last = -1;
  for (size_t at = 0; at < size && fits; at += kGrain) {
    keys.each_block(at, std::min(at + kGrain, size),
                    [&](size_t begin, size_t end, const uint64_t* key) {
                      for (size_t i = begin; i < end && fits; ++i) {
                        if (last < 0 || key[i - begin] != last_key) {
                          last_key = key[i - begin];
                          fits = few.number(last_key, i, last);
                        }
                        numbered(i, last);
                      }
                    });
  }
  return fits;
}

bool by_few_keys(const PackedKeys& keys, size_t size, Column<int64_t>& codes) {
  FewKeys few;
  const auto keep = [&](size_t row, int64_t number) { codes[row] = number; };
  if (!number_rows(keys, size, few, keep)) return false;
  const std::vector<int64_t> rank = few.ranks();
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) codes[i] = rank[static_cast<size_t>(codes[i])];
  });
  return true;
}

/// For many keys out of a large range: equal ones are neighbours in order.
Column<int64_t> by_order(const std::vector<KeyColumn>& columns, const PackedKeys& keys,
                         Column<int64_t> codes, const std::function<void()>& interrupted) {
  const size_t size = codes.size();
  const Column<int64_t> order = ordered(columns, size, interrupted);
  Column<uint64_t> key;
  key.hold(size);
  for_parts(size, kGrain, [&](size_t first, size_t last) {
    keys.each_block(first, last, [&](size_t begin, size_t end, const uint64_t* block) {
      std::copy(block, block + (end - begin), key.data() + begin);
    });
  });
  int64_t code = 0;
  for (size_t i = 0; i < size; ++i) {
    const auto row = static_cast<size_t>(order[i]);
    if (i != 0 && key[row] != key[static_cast<size_t>(order[i - 1])]) ++code;
    codes[row] = code;
  }
  return codes;
}

Column<int64_t> of_narrow(const std::vector<KeyColumn>& columns, size_t size,
                          const std::function<void()>& interrupted) {
  const PackedKeys keys(columns);
  if (keys.bits() < 40 && size_t{1} << keys.bits() <= std::max(kSmallTable, 2 * size)) {
    return by_table(keys, size);
  }
  Column<int64_t> codes = sized_column<int64_t>(size);
  if (by_few_keys(keys, size, codes)) return codes;
  return by_order(columns, keys, std::move(codes), interrupted);
}

IntegerColumn column_of(const Column<int64_t>& codes) {
  return {reinterpret_cast<const char*>(codes.data()), sizeof(int64_t), codes.size(), Width::i64};
}

}  // namespace

unsigned PackedKeys::bits() const {
  unsigned bits = 0;
  for (const KeyColumn& key : keys_) bits += key.bits();
  return bits;
}

void PackedKeys::fill(uint64_t* keys, size_t begin, size_t end) const {
  std::fill(keys, keys + (end - begin), 0);
  unsigned to = bits();
  for (const KeyColumn& key : keys_) {
    if (key.bits() == 0) continue;
    to -= key.bits();
    key.add(keys, begin, end, nullptr, {0, key.bits(), to});
  }
}

Column<int64_t> dense_codes(const std::vector<IntegerColumn>& columns, Rows rows,
                            const std::function<void()>& interrupted) {
  std::vector<KeyColumn> keys;
  for (const IntegerColumn& column : columns) keys.emplace_back(column, rows, /*descending=*/false);
  if (PackedKeys(keys).bits() <= 64) return of_narrow(keys, rows.size, interrupted);
  // Codes have at most 32 bits: those of all columns but the last, and those of the last one.
  const Column<int64_t> front =
      dense_codes({columns.begin(), columns.end() - 1}, rows, interrupted);
  const Column<int64_t> back = dense_codes({columns.back()}, rows, interrupted);
  const Rows all{nullptr, rows.size};
  return of_narrow({{column_of(front), all, false}, {column_of(back), all, false}}, rows.size,
                   interrupted);
}

Column<int64_t> distinct_rows(const std::vector<IntegerColumn>& columns, Rows rows,
                              const std::function<void()>& interrupted) {
  std::vector<KeyColumn> keys;
  for (const IntegerColumn& column : columns) keys.emplace_back(column, rows, /*descending=*/false);
  const PackedKeys packed(keys);
  Column<int64_t> result;
  FewKeys few;
  if (packed.bits() <= 64 && number_rows(packed, rows.size, few, [](size_t, int64_t) {})) {
    const std::vector<int64_t> first = few.first_rows();
    result.append(first.data(), first.size());
    return result;
  }
  const Column<int64_t> codes = dense_codes(columns, rows, interrupted);
  std::vector<int64_t> first;
  for (size_t row = rows.size; row-- != 0;) {
    const auto code = static_cast<size_t>(codes[row]);
    if (code >= first.size()) first.resize(code + 1);
    first[code] = static_cast<int64_t>(row);
  }
  result.append(first.data(), first.size());
  return result;
}

}  // namespace overlap_native
