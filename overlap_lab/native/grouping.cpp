#include "grouping.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace overlap_native {

namespace {

template <class Work>
void each(const int64_t* group, const int64_t* value, size_t size, int64_t* into, Work work) {
  for (size_t i = 0; i < size; ++i) {
    int64_t& total = into[group[i]];
    total = work(total, value[i]);
  }
}

}  // namespace

void fold_groups(const int64_t* group, const int64_t* value, size_t size, Fold fold,
                 int64_t* into) {
  switch (fold) {
    case Fold::sum:  // wraps, as numpy's sums do
      return each(group, value, size, into, [](int64_t total, int64_t more) {
        return static_cast<int64_t>(static_cast<uint64_t>(total) + static_cast<uint64_t>(more));
      });
    case Fold::least:
      return each(group, value, size, into,
                  [](int64_t total, int64_t more) { return std::min(total, more); });
    case Fold::most:
      return each(group, value, size, into,
                  [](int64_t total, int64_t more) { return std::max(total, more); });
  }
}

void reach_before(const StreamOps& ops, const Column<int64_t>& by_enqueue, int64_t* reach) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  struct Seen {
    int64_t enqueue = kNever;  // of the latest op
    int64_t before = kNever;   // latest end of what was enqueued before that
    int64_t until = kNever;    // latest end of all
  };
  std::vector<Seen> streams(ops.streams);
  for (size_t i = 0; i < ops.size; ++i) {
    const auto op = static_cast<size_t>(by_enqueue[i]);
    Seen& seen = streams[static_cast<size_t>(ops.stream[op])];
    if (ops.enqueue[op] != seen.enqueue) {
      seen.enqueue = ops.enqueue[op];
      seen.before = seen.until;
    }
    reach[op] = seen.before;
    seen.until = std::max(seen.until, ops.end[op]);
  }
}

Bounds bounds_of(const int64_t* numbers, size_t size) {
  if (size == 0) return {0, -1};
  const auto [least, most] = std::minmax_element(numbers, numbers + size);
  return {*least, *most};
}

}  // namespace overlap_native
