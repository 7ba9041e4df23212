#include "pairing.h"

#include <algorithm>

#include "codes.h"
#include "ordering.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 15;

/// The calls of each key, by start.
class CallsByKey {
 public:
  CallsByKey(const PairedRows& paired, const Column<int64_t>& key,
             const std::function<void()>& interrupted)
      : paired_(paired), key_(key) {
    size_t keys = 0;
    for (size_t i = 0; i < key.size(); ++i) {
      keys = std::max(keys, static_cast<size_t>(key[i]) + 1);
    }
    first_.assign(keys + 2, 0);
    for (size_t call = 0; call < paired.calls; ++call) ++first_[key_at(call) + 2];
    for (size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    calls_.resize(paired.calls);
    if (std::is_sorted(paired.rows.list, paired.rows.list + paired.calls,
                       [this](int64_t a, int64_t b) { return start(a) < start(b); })) {
      for (size_t call = 0; call < paired.calls; ++call) add(call);
    } else {
      const IntegerColumn starts{reinterpret_cast<const char*>(paired.start_ns), sizeof(int64_t), 0,
                                 Width::i64};
      const KeyColumn by(starts, {paired.rows.list, paired.calls}, /*descending=*/false);
      const Column<int64_t> order = ordered({by}, paired.calls, interrupted);
      for (size_t i = 0; i < paired.calls; ++i) add(static_cast<size_t>(order[i]));
    }
  }

  /// Row of the call of the op `paired.rows[index]`, or -1.
  int64_t call_of(size_t index) const {
    const size_t key = key_at(index);
    const uint32_t *first = calls_.data() + first_[key], *last = calls_.data() + first_[key + 1];
    if (first == last) return -1;
    const int64_t begun = start(paired_.rows.list[index]);
    const uint32_t* later =
        last - first == 1 ? first + 1 : std::partition_point(first, last, [&](uint32_t call) {
          return start(paired_.rows.list[call]) < begun;
        });
    return paired_.rows.list[later == first ? *first : later[-1]];
  }

 private:
  size_t key_at(size_t index) const { return static_cast<size_t>(key_[index]); }
  int64_t start(int64_t row) const { return paired_.start_ns[row]; }
  void add(size_t call) { calls_[first_[key_at(call) + 1]++] = static_cast<uint32_t>(call); }

  const PairedRows& paired_;
  const Column<int64_t>& key_;
  std::vector<uint32_t> first_;  // where each key's calls begin, once all are added
  std::vector<uint32_t> calls_;
};

}  // namespace

Column<int64_t> calls_of_ops(const PairedRows& paired, const std::function<void()>& interrupted) {
  const Column<int64_t> key = dense_codes(paired.keys, paired.rows, interrupted);
  const CallsByKey calls(paired, key, interrupted);
  Column<int64_t> found = sized_column<int64_t>(paired.rows.size - paired.calls);
  for_parts(found.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t op = begin; op < end; ++op) found[op] = calls.call_of(paired.calls + op);
  });
  return found;
}

namespace {

/// The outermost interval of a group that is open.
struct Holder {
  bool any = false;
  int64_t start = 0, end = 0;
  size_t index = 0;
  void meet(int64_t next_start, int64_t next_end, size_t next) {
    const bool behind = next_start == end && next_end == end && start < next_start;
    if (any && next_end <= end && !behind) return;
    *this = {true, next_start, next_end, next};
  }
};

}  // namespace

Column<int64_t> outermost(const GroupedIntervals& intervals,
                          const std::function<void()>& interrupted) {
  const auto column = [&](const int64_t* values) {
    return IntegerColumn{reinterpret_cast<const char*>(values), sizeof(int64_t), intervals.size,
                         Width::i64};
  };
  const Rows all{nullptr, intervals.size};
  const Column<int64_t> group = dense_codes({column(intervals.group)}, all, interrupted);
  const Column<int64_t> order =
      ordered({{column(intervals.start), all, false}, {column(intervals.end), all, true}},
              intervals.size, interrupted);
  int64_t groups = 0;
  for (size_t i = 0; i < intervals.size; ++i) groups = std::max(groups, group[i] + 1);
  std::vector<Holder> holders(static_cast<size_t>(groups));
  Column<int64_t> found = sized_column<int64_t>(intervals.size);
  for (size_t i = 0; i < intervals.size; ++i) {
    const auto index = static_cast<size_t>(order[i]);
    Holder& holder = holders[static_cast<size_t>(group[index])];
    holder.meet(intervals.start[index], intervals.end[index], index);
    found[index] = static_cast<int64_t>(holder.index);
  }
  return found;
}

}  // namespace overlap_native
