#include "interval_sets.h"

#include <algorithm>

#include "lookup.h"
#include "ordering.h"

namespace overlap_native {

void IntervalSet::add(int64_t first, int64_t last) {
  if (last <= first) return;
  if (end.size() != 0 && first <= end[end.size() - 1]) {
    end[end.size() - 1] = std::max(end[end.size() - 1], last);
  } else {
    start.push(first);
    end.push(last);
  }
}

IntervalSet union_of(const Intervals& intervals, const std::function<void()>& interrupted) {
  IntervalSet set;
  if (std::is_sorted(intervals.start, intervals.start + intervals.size)) {
    for (size_t i = 0; i < intervals.size; ++i) set.add(intervals.start[i], intervals.end[i]);
    return set;
  }
  const IntegerColumn start{reinterpret_cast<const char*>(intervals.start), sizeof(int64_t),
                            intervals.size, Width::i64};
  const KeyColumn key(start, {nullptr, intervals.size}, /*descending=*/false);
  const Column<int64_t> order = ordered({key}, intervals.size, interrupted);
  for (size_t i = 0; i < intervals.size; ++i) {
    const auto row = static_cast<size_t>(order[i]);
    set.add(intervals.start[row], intervals.end[row]);
  }
  return set;
}

IntervalSet intersection_of(const Intervals& a, const Intervals& b) {
  IntervalSet set;
  for (size_t i = 0, j = 0; i < a.size && j < b.size;) {
    set.add(std::max(a.start[i], b.start[j]), std::min(a.end[i], b.end[j]));
    if (a.end[i] < b.end[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return set;
}

int64_t shared_length(const Intervals& a, const Intervals& b) {
  int64_t total = 0;
  size_t at = 0;
  for (size_t i = 0; i < b.size; ++i) {
    at = from_hint(at, a.size, [&](size_t each) { return a.end[each] <= b.start[i]; });
    for (size_t each = at; each < a.size && a.start[each] < b.end[i]; ++each) {
      total += std::min(a.end[each], b.end[i]) - std::max(a.start[each], b.start[i]);
    }
  }
  return total;
}

IntervalSet difference_of(const Intervals& a, const Intervals& b) {
  IntervalSet set;
  size_t j = 0;
  for (size_t i = 0; i < a.size; ++i) {
    int64_t from = a.start[i];
    while (j < b.size && b.end[j] <= from) ++j;
    size_t next = j;
    for (; next < b.size && b.start[next] < a.end[i]; ++next) {
      set.add(from, b.start[next]);
      from = b.end[next];
    }
    set.add(from, a.end[i]);
    j = next == j ? j : next - 1;  // the last one may reach into the next interval
  }
  return set;
}

}  // namespace overlap_native
