#include "ordering.h"

#include <algorithm>
#include <stdexcept>

#include "number_sort.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;
constexpr size_t kBlock = 1 << 12;  // what stays in the nearest cache

/// Rows that all earlier stages left equal to a neighbour. Row `rows[i]` belongs to run `run[i]` of
/// equal ones and to one of this run's places in the result, of which `place[i]` is the i-th.
struct Ties {
  Column<uint32_t> rows, run, place;
};

/// The order as far as the leading bits of the keys decide it; each stage settles some more of
/// them, for ever fewer rows.
class Sorter {
 public:
  Sorter(const std::vector<KeyColumn>& keys, size_t size, const std::function<void()>& interrupted)
      : keys_(keys), interrupted_(interrupted) {
    for (const KeyColumn& key : keys) left_.push_back(key.bits());
    packed_ = sized_column<uint64_t>(size);
  }

  Column<int64_t> sorted() {
    sort_stage(nullptr, nullptr, 0);
    Column<int64_t> order = sized_column<int64_t>(packed_.size());
    for_parts(packed_.size(), kGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) order[i] = static_cast<int64_t>(position(i));
    });
    if (!any_left()) return order;
    Ties ties = ties_among([](size_t i) { return static_cast<uint32_t>(i); },
                           [&](size_t i) { return static_cast<uint32_t>(position(i)); });
    while (ties.rows.size() != 0) {
      packed_.set_size(ties.rows.size());
      sort_stage(ties.rows.data(), ties.run.data(), runs_);
      for (size_t i = 0; i < packed_.size(); ++i) {
        order[ties.place[i]] = ties.rows[position(i)];
      }
      if (!any_left()) break;
      ties = ties_among([&](size_t i) { return ties.place[i]; },
                        [&](size_t i) { return ties.rows[position(i)]; });
    }
    return order;
  }

 private:
  struct Field {
    const KeyColumn* key;
    KeyColumn::Slice slice;
  };

  bool any_left() const {
    return std::any_of(left_.begin(), left_.end(), [](unsigned bits) { return bits != 0; });
  }
  size_t position(size_t i) const { return packed_[i] & ((uint64_t{1} << position_bits_) - 1); }

  /// The leading bits that are left, as many as fit.
  std::vector<Field> next_fields(unsigned room) {
    std::vector<Field> fields;
    for (size_t at = 0; at < keys_.size() && room != 0; ++at) {
      const unsigned count = std::min(left_[at], room);
      if (count == 0) continue;
      left_[at] -= count;
      room -= count;
      fields.push_back({&keys_[at], {left_[at], count, 0}});
    }
    width_ = position_bits_;
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      field->slice.to = width_;
      width_ += field->slice.count;
    }
    return fields;
  }

  /// Sorts numbers made of each row's run, the next bits of its keys, and its position: they are
  /// all distinct, and equal rows stay in order.
  void sort_stage(const uint32_t* rows, const uint32_t* run, size_t runs) {
    position_bits_ = bit_width(packed_.size() == 0 ? 0 : packed_.size() - 1);
    const unsigned run_bits = bit_width(runs);
    const std::vector<Field> fields = next_fields(64 - position_bits_ - run_bits);
    for_parts(packed_.size(), kGrain, [&](size_t first, size_t last) {
      for (size_t begin = first; begin < last; begin += kBlock) {
        const size_t end = std::min(begin + kBlock, last);
        uint64_t* into = packed_.data() + begin;
        for (size_t i = begin; i < end; ++i) {
          into[i - begin] = i | (run == nullptr ? 0 : uint64_t{run[i]} << width_);
        }
        for (const Field& field : fields) field.key->add(into, begin, end, rows, field.slice);
      }
    });
    sort_numbers(packed_, position_bits_, width_ + run_bits, interrupted_);
  }

  template <class Place, class Row>
  Ties ties_among(const Place& place, const Row& row) {
    Ties ties;
    runs_ = 0;
    for (size_t i = 0; i < packed_.size(); ++i) {
      const uint64_t key = packed_[i] >> position_bits_;
      const bool joins = i != 0 && packed_[i - 1] >> position_bits_ == key;
      if (!joins && (i + 1 == packed_.size() || packed_[i + 1] >> position_bits_ != key)) continue;
      if (!joins) ++runs_;
      ties.rows.push(row(i));
      ties.place.push(place(i));
      ties.run.push(static_cast<uint32_t>(runs_));
    }
    return ties;
  }

  const std::vector<KeyColumn>& keys_;
  const std::function<void()>& interrupted_;
  std::vector<unsigned> left_;  // of each key the low bits that no stage has looked at
  Column<uint64_t> packed_;
  unsigned position_bits_ = 0, width_ = 0;
  size_t runs_ = 0;
};

}  // namespace

Column<int64_t> ordered(const std::vector<KeyColumn>& keys, size_t size,
                        const std::function<void()>& interrupted) {
  if (size > UINT32_MAX / 2) throw std::length_error("order: more than 2^31 rows");
  return Sorter(keys, size, interrupted).sorted();
}

}  // namespace overlap_native
