#include "recoveries.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "lookup.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 17;  // what takes longer than to start a thread
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// Moments in order, and which of them each one is.
struct InOrder {
  InOrder(const int64_t* moments, size_t size) : number(size), time(size) {
    std::iota(number.begin(), number.end(), size_t{0});
    std::sort(number.begin(), number.end(),
              [&](size_t a, size_t b) { return moments[a] < moments[b]; });
    for (size_t i = 0; i < size; ++i) time[i] = moments[number[i]];
  }
  /// How many moments are no later than a time; sought from `hint` on.
  size_t until(size_t hint, int64_t limit) const {
    return from_hint(hint, time.size(), [&](size_t at) { return time[at] <= limit; });
  }
  std::vector<size_t> number;
  std::vector<int64_t> time;
};

/// What the ops between two waits that follow each other have to say to them.
struct Between {
  explicit Between(size_t waits) : latest(waits, {kLeast, kLeast}), first(waits, kMost) {}
  void join(const Between& other) {
    for (size_t i = 0; i < latest.size(); ++i) {
      latest[i] = std::max(latest[i], other.latest[i]);
      first[i] = std::min(first[i], other.first[i]);
    }
  }
  std::vector<std::pair<int64_t, int64_t>> latest;  // enqueue and start, before each call
  std::vector<int64_t> first;                       // start, behind each gap
};

Between between(const DeviceOps& ops, const InOrder& called, const InOrder& gap_end,
                int64_t twice_least) {
  const size_t waits = called.time.size();
  Between all(waits);
  std::mutex joining;
  // A part has numbers for every wait: all of them together are no more than there are ops.
  for_parts(ops.size, std::max(kGrain, waits), [&](size_t begin, size_t end) {
    Between mine(waits);
    size_t calls = 0, gaps = 0;
    for (size_t i = begin; i < end; ++i) {
      const size_t op = ops.op(i);
      if (!ops.counts(op)) continue;
      const int64_t start = ops.start[op], enqueue = ops.enqueue[op];
      calls = called.until(calls, enqueue);
      if (calls < mine.latest.size()) {
        mine.latest[calls] = std::max(mine.latest[calls], {enqueue, start});
      }
      if (2 * (start - enqueue) < twice_least) continue;
      gaps = gap_end.until(gaps, start);
      if (gaps != 0) mine.first[gaps - 1] = std::min(mine.first[gaps - 1], start);
    }
    const std::lock_guard<std::mutex> lock(joining);
    all.join(mine);
  });
  for (size_t i = 1; i < all.latest.size(); ++i) {
    all.latest[i] = std::max(all.latest[i], all.latest[i - 1]);
  }
  for (size_t i = all.first.size(); i-- > 1;) {
    all.first[i - 1] = std::min(all.first[i - 1], all.first[i]);
  }
  return all;
}

}  // namespace

Recoveries recoveries(const DeviceOps& ops, Drained waits, int64_t twice_least, int64_t none) {
  const InOrder called(waits.called, waits.size), gap_end(waits.gap_end, waits.size);
  const Between found = between(ops, called, gap_end, twice_least);
  Recoveries all{sized_column<int64_t>(waits.size), sized_column<int64_t>(waits.size)};
  for (size_t i = 0; i < waits.size; ++i) {
    const auto [enqueue, start] = found.latest[i];
    all.before[called.number[i]] = enqueue == kLeast ? none : start - enqueue;
    const size_t wait = gap_end.number[i];
    all.after[wait] = found.first[i] == kMost ? none : found.first[i] - waits.returned[wait];
  }
  return all;
}

}  // namespace overlap_native
