#include "full_queue.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

#include "lookup.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 17;  // what takes longer than to start a thread

/// Numbers of launches by the depth at which they began.
class Depths {
 public:
  Depths(const TraceView& trace, const Launches& launches, Moved entered, Moved left)
      : launches_(launches), depth_(sized_column<int32_t>(launches.size)) {
    std::mutex joining;
    for_parts(launches.size, kGrain, [&](size_t begin, size_t end) {
      size_t came = 0, went = 0;
      int32_t low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();
      for (size_t i = begin; i < end; ++i) {
        const int64_t time = trace.start_ns[static_cast<size_t>(launches.host[launches.call[i]])];
        came = until(entered, came, time);
        went = until(left, went, time);
        depth_[i] = static_cast<int32_t>(static_cast<int64_t>(came) - static_cast<int64_t>(went));
        low = std::min(low, depth_[i]);
        high = std::max(high, depth_[i]);
      }
      const std::lock_guard<std::mutex> lock(joining);
      low_ = std::min(low_, low);
      high_ = std::max(high_, high);
    });
    count();
  }

  /// Whether a slow launch is one of enough.
  bool full(size_t launch) const {
    const size_t at = place(launch);
    return slow_[at] >= 2 && 4 * slow_[at] >= 3 * all_[at];
  }

 private:
  static size_t until(Moved moved, size_t hint, int64_t time) {
    return from_hint(hint, moved.size, [&](size_t at) { return moved.time[at] <= time; });
  }
  size_t place(size_t launch) const {
    return static_cast<size_t>(static_cast<int64_t>(depth_[launch]) - low_);
  }

  /// Of each depth, and of deeper ones.
  void count() {
    if (launches_.size == 0) return;
    const auto depths = static_cast<size_t>(static_cast<int64_t>(high_) - low_ + 1);
    all_.assign(depths, 0);
    slow_.assign(depths, 0);
    for (size_t i = 0; i < launches_.size; ++i) {
      ++all_[place(i)];
      slow_[place(i)] += launches_.slow[launches_.call[i]] != 0 ? 1 : 0;
    }
    for (size_t at = depths - 1; at-- != 0;) {
      all_[at] += all_[at + 1];
      slow_[at] += slow_[at + 1];
    }
  }

  const Launches& launches_;
  Column<int32_t> depth_;
  int32_t low_ = std::numeric_limits<int32_t>::max(), high_ = std::numeric_limits<int32_t>::min();
  std::vector<uint64_t> all_, slow_;
};

}  // namespace

Column<int32_t> mostly_slow(const TraceView& trace, const Launches& launches, Moved entered,
                            Moved left) {
  const Depths depths(trace, launches, entered, left);
  Column<int32_t> found;
  for (size_t i = 0; i < launches.size; ++i) {
    if (launches.slow[launches.call[i]] != 0 && depths.full(i)) found.push(launches.call[i]);
  }
  return found;
}

}  // namespace overlap_native
