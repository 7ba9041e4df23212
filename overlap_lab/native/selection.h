// Chosen ranks of many numbers without sorting them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "threads.h"

namespace overlap_native {

/// The numbers at the ranks right below and right above each tenth, of so many.
struct Tenths {
  size_t count = 0;
  std::vector<int64_t> low, high;
};

/// Counts numbers in buckets, exact below 64, then 64 to a power of two.
class Buckets {
 public:
  static constexpr size_t kCount = 64 + 58 * 64;
  static size_t of(uint64_t number) {
    if (number < 64) return number;
    const unsigned top = 63 - static_cast<unsigned>(__builtin_clzll(number));
    return 64 + (top - 6) * size_t{64} + (number >> (top - 6) & 63);
  }
};

/// Tenths of the numbers that `number_at(i, number)` gives for i in [0, size); false is for none.
template <class NumberAt>
Tenths tenths_of(size_t size, const std::vector<unsigned>& tenths, const NumberAt& number_at) {
  constexpr size_t kGrain = 1 << 17;
  std::mutex joining;
  int64_t least = std::numeric_limits<int64_t>::max();
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    int64_t mine = std::numeric_limits<int64_t>::max(), number = 0;
    for (size_t i = begin; i < end; ++i) {
      if (number_at(i, number)) mine = std::min(mine, number);
    }
    const std::lock_guard<std::mutex> lock(joining);
    least = std::min(least, mine);
  });
  const auto above = [least](int64_t number) {
    return static_cast<uint64_t>(number) - static_cast<uint64_t>(least);
  };
  std::vector<size_t> counts(Buckets::kCount + 1, 0);
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    std::vector<size_t> mine(Buckets::kCount + 1, 0);
    int64_t number = 0;
    for (size_t i = begin; i < end; ++i) {
      if (number_at(i, number)) ++mine[Buckets::of(above(number)) + 1];
    }
    const std::lock_guard<std::mutex> lock(joining);
    for (size_t i = 0; i < mine.size(); ++i) counts[i] += mine[i];
  });
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  Tenths found;
  found.count = counts.back();
  if (found.count == 0) return found;
  const auto bucket_of_rank = [&](size_t rank) {
    return static_cast<size_t>(std::upper_bound(counts.begin(), counts.end(), rank) -
                               counts.begin()) -
           1;
  };
  std::vector<size_t> ranks;
  for (const unsigned tenth : tenths) {
    const size_t rank = (found.count - 1) * tenth / 10;
    ranks.push_back(rank);
    ranks.push_back(std::min(rank + 1, found.count - 1));
  }
  std::vector<std::vector<int64_t>> members(Buckets::kCount);
  std::vector<uint8_t> wanted(Buckets::kCount, 0);
  for (const size_t rank : ranks) wanted[bucket_of_rank(rank)] = 1;
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    std::vector<std::pair<size_t, int64_t>> mine;
    int64_t number = 0;
    for (size_t i = begin; i < end; ++i) {
      if (!number_at(i, number)) continue;
      const size_t bucket = Buckets::of(above(number));
      if (wanted[bucket] != 0) mine.emplace_back(bucket, number);
    }
    const std::lock_guard<std::mutex> lock(joining);
    for (const auto& [bucket, each] : mine) {
      if (bucket >= 64 || members[bucket].empty()) members[bucket].push_back(each);
    }
  });
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t bucket = bucket_of_rank(ranks[i]);
    std::vector<int64_t>& mine = members[bucket];
    size_t place = 0;  // the numbers of a bucket below 64 are all the same
    if (bucket >= 64) {
      place = ranks[i] - counts[bucket];
      std::nth_element(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(place), mine.end());
    }
    (i % 2 == 0 ? found.low : found.high).push_back(mine[place]);
  }
  return found;
}

}  // namespace overlap_native
