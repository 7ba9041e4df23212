// Half-open intervals in two arrays; a set of them is sorted, disjoint, not touching, none empty.
#pragma once

#include <cstdint>
#include <functional>

#include "column.h"

namespace overlap_native {

struct Intervals {
  const int64_t *start, *end;
  size_t size;
};

struct IntervalSet {
  Column<int64_t> start, end;
  /// Adds an interval that starts at or after all others do; it joins one that it touches.
  void add(int64_t first, int64_t last);
};

IntervalSet union_of(const Intervals& intervals, const std::function<void()>& interrupted);
IntervalSet intersection_of(const Intervals& a, const Intervals& b);
/// How much of both is the same; quick where one of them has few intervals, better the second.
int64_t shared_length(const Intervals& a, const Intervals& b);
IntervalSet difference_of(const Intervals& a, const Intervals& b);

}  // namespace overlap_native
