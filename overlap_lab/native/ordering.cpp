#include "ordering.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "number_sort.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;
constexpr size_t kBlock = 1 << 12;  // what stays in the nearest cache

/// A part of a column that one stage of the sort looks at.
struct Field {
  const KeyColumn* key;
  KeyColumn::Slice slice;
};

/// The least significant fields first, as many in a stage as fit beside a position.
std::vector<std::vector<Field>> stages_of(const std::vector<KeyColumn>& keys, unsigned room) {
  std::vector<std::vector<Field>> stages(1);
  unsigned used = 0;
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
    for (unsigned from = 0; from < key->bits();) {
      if (used == room) {
        stages.emplace_back();
        used = 0;
      }
      const unsigned count = std::min(key->bits() - from, room - used);
      stages.back().push_back({&*key, {from, count, used}});
      from += count;
      used += count;
    }
  }
  return stages;
}

unsigned width_of(const std::vector<Field>& stage) {
  return stage.empty() ? 0 : stage.back().slice.to + stage.back().slice.count;
}

/// Each row's fields with its position in the present order below them: sorting these distinct
/// numbers sorts the rows and keeps equal ones in order.
void pack(const std::vector<Field>& stage, const uint32_t* order, unsigned position_bits,
          Column<uint64_t>& packed) {
  for_parts(packed.size(), kGrain, [&](size_t first, size_t last) {
    for (size_t begin = first; begin < last; begin += kBlock) {
      const size_t end = std::min(begin + kBlock, last);
      uint64_t* into = packed.data() + begin;
      for (size_t i = begin; i < end; ++i) into[i - begin] = i;
      for (Field field : stage) {
        field.slice.to += position_bits;
        field.key->add(into, begin, end, order, field.slice);
      }
    }
  });
}

void keep_positions(Column<uint64_t>& packed, const uint32_t* order, uint64_t mask) {
  for_parts(packed.size(), kGrain, [&](size_t begin, size_t end) {
    uint64_t* numbers = packed.data();
    for (size_t i = begin; i < end; ++i) {
      const uint64_t position = numbers[i] & mask;
      numbers[i] = order == nullptr ? position : order[position];
    }
  });
}

Column<int64_t> taken_over(Column<uint64_t>& positions) {
  Column<int64_t> result;
  const size_t size = positions.size();
  result.adopt(reinterpret_cast<int64_t*>(positions.release()), size);
  return result;
}

}  // namespace

Column<int64_t> ordered(const std::vector<KeyColumn>& keys, size_t size,
                        const std::function<void()>& interrupted) {
  if (size > UINT32_MAX) throw std::length_error("order: more than 2^32 rows");
  const unsigned position_bits = bit_width(size == 0 ? 0 : size - 1);
  const uint64_t mask = (uint64_t{1} << position_bits) - 1;
  Column<uint64_t> packed;
  packed.hold(std::max<size_t>(size, 1));
  packed.set_size(size);
  Column<uint32_t> order;
  const auto stages = stages_of(keys, 64 - position_bits);
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    const uint32_t* before = stage == 0 ? nullptr : order.data();
    pack(stages[stage], before, position_bits, packed);
    sort_numbers(packed, position_bits, position_bits + width_of(stages[stage]), interrupted);
    keep_positions(packed, before, mask);
    if (stage + 1 == stages.size()) break;
    order.hold(std::max<size_t>(size, 1));
    std::copy(packed.data(), packed.data() + size, order.data());
  }
  return taken_over(packed);
}

}  // namespace overlap_native
