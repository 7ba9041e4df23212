// Sets of intervals, held to sets of moments; the places of numbers among sorted ones, and what
// came before, held to loops over all.
#include <algorithm>
#include <bitset>
#include <vector>

#include "grouping.h"
#include "interval_sets.h"
#include "law.h"
#include "lookup.h"
#include "ordering.h"
#include "pairing.h"

namespace {

using fuzz::Choices;
using fuzz::require;
using overlap_native::Column;
using overlap_native::Intervals;
using overlap_native::IntervalSet;
using Moments = std::bitset<512>;  // bit t: the moments from t on, before t + 1

struct Lists {
  std::vector<int64_t> group, start, end;
  Intervals lent() const { return {start.data(), end.data(), start.size()}; }
};

Lists lists_of(Choices& choices, size_t most) {
  Lists lists;
  for (size_t i = 0; i < most && !choices.empty(); ++i) {
    lists.group.push_back(choices.byte() % 3);
    lists.start.push_back(choices.byte());
    lists.end.push_back(lists.start.back() + choices.byte() % 64 - 8);
  }
  return lists;
}

Moments moments_of(const Intervals& intervals) {
  Moments all;
  for (size_t i = 0; i < intervals.size; ++i) {
    for (int64_t t = intervals.start[i]; t < intervals.end[i]; ++t) all.set(static_cast<size_t>(t));
  }
  return all;
}

Intervals lent(const IntervalSet& set) {
  return {set.start.data(), set.end.data(), set.start.size()};
}

void check_set(const IntervalSet& set, const Moments& plain, const char* law) {
  require(moments_of(lent(set)) == plain, law);
  for (size_t i = 0; i < set.start.size(); ++i) {
    require(set.start[i] < set.end[i], "no interval of a set is empty");
    if (i != 0) require(set.end[i - 1] < set.start[i], "intervals of a set lie apart, in order");
  }
}

void check_sets(const Lists& one, const Lists& two) {
  const IntervalSet a = overlap_native::union_of(one.lent(), [] {});
  const IntervalSet b = overlap_native::union_of(two.lent(), [] {});
  const Moments in_a = moments_of(one.lent()), in_b = moments_of(two.lent());
  check_set(a, in_a, "a union has the moments of all");
  check_set(overlap_native::intersection_of(lent(a), lent(b)), in_a & in_b,
            "an intersection has the moments of both");
  check_set(overlap_native::difference_of(lent(a), lent(b)), in_a & ~in_b,
            "a difference has the moments of the first only");
}

/// Whether the interval lies in the other, which comes before it.
bool holds(const Lists& lists, size_t outer, size_t inner) {
  return lists.group[outer] == lists.group[inner] && lists.start[outer] <= lists.start[inner] &&
         lists.end[inner] <= lists.end[outer];
}

void check_outermost(Lists lists) {
  for (size_t i = 0; i < lists.start.size(); ++i) {  // an interval has a length
    lists.end[i] = std::max(lists.end[i], lists.start[i] + 1);
  }
  const Column<int64_t> found = overlap_native::outermost(
      {lists.group.data(), lists.start.data(), lists.end.data(), lists.start.size()}, [] {});
  for (size_t i = 0; i < lists.start.size(); ++i) {
    const auto outer = static_cast<size_t>(found[i]);
    require(outer < lists.start.size() && holds(lists, outer, i), "the outermost one is around");
    for (size_t other = 0; other < lists.start.size(); ++other) {
      const bool same =
          lists.start[other] == lists.start[outer] && lists.end[other] == lists.end[outer];
      require(same || !holds(lists, other, outer), "nothing is around the outermost one");
    }
  }
}

void check_positions(const Lists& lists) {
  std::vector<int64_t> sorted = lists.end;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> found(lists.start.size());
  for (const auto side : {overlap_native::Side::left, overlap_native::Side::right}) {
    overlap_native::positions(sorted.data(), sorted.size(), lists.start.data(), lists.start.size(),
                              side, found.data());
    for (size_t i = 0; i < found.size(); ++i) {
      const auto at = side == overlap_native::Side::left
                          ? std::lower_bound(sorted.begin(), sorted.end(), lists.start[i])
                          : std::upper_bound(sorted.begin(), sorted.end(), lists.start[i]);
      require(found[i] == at - sorted.begin(), "positions are those of a binary search");
    }
  }
}

void check_last_below(const Lists& values, const Lists& queries) {
  const auto size = static_cast<int64_t>(values.end.size());
  std::vector<int64_t> low, high;
  for (size_t i = 0; i < queries.start.size(); ++i) {
    low.push_back(queries.start[i] % (size + 1));
    high.push_back(queries.group[i] == 0 ? size : std::min(low[i] + queries.group[i] * 70, size));
  }
  std::vector<int64_t> found(low.size());
  overlap_native::last_below(values.end.data(), values.end.size(),
                             {low.data(), high.data(), queries.end.data(), low.size()},
                             found.data());
  for (size_t i = 0; i < low.size(); ++i) {
    int64_t plain = high[i] - 1;
    while (plain >= low[i] && values.end[static_cast<size_t>(plain)] >= queries.end[i]) --plain;
    require(found[i] == std::max(plain, low[i] - 1), "the last one below is found");
  }
}

void check_reach(const Lists& ops) {
  constexpr int64_t kNever = INT64_MIN;
  const size_t size = ops.start.size();
  const overlap_native::KeyColumn key({reinterpret_cast<const char*>(ops.start.data()),
                                       sizeof(int64_t), size, overlap_native::Width::i64},
                                      {nullptr, size}, false);
  const Column<int64_t> order = overlap_native::ordered({key}, size, [] {});
  std::vector<int64_t> reach(size);
  overlap_native::reach_before({ops.group.data(), ops.start.data(), ops.end.data(), size, 3}, order,
                               reach.data());
  for (size_t op = 0; op < size; ++op) {
    int64_t plain = kNever;
    for (size_t other = 0; other < size; ++other) {
      const bool before = ops.group[other] == ops.group[op] && ops.start[other] < ops.start[op];
      if (before) plain = std::max(plain, ops.end[other]);
    }
    require(reach[op] == plain, "the reach is the latest end of what was enqueued before");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 300;  // loops over all take the square of it
  Choices choices(data, size);
  const size_t first = choices.word() % kMost;
  const Lists one = lists_of(choices, first), two = lists_of(choices, kMost);
  for (const Lists& lists : {one, two}) {
    check_outermost(lists);
    check_positions(lists);
    check_reach(lists);
  }
  check_sets(one, two);
  check_last_below(one, two);
  return 0;
}
