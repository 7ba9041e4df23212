#include "enclosing.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace overlap_native {

namespace {

/// The rows of one thread that may still be around a later moment: each ends before those below it
/// do, so that the last one to reach a moment's end is found by halves.
class OpenRows {
 public:
  void open(int64_t row, int64_t end) {
    while (!ends_.empty() && ends_.back() <= end) {
      ends_.pop_back();
      rows_.pop_back();
    }
    ends_.push_back(end);
    rows_.push_back(row);
  }
  int64_t last_reaching(int64_t end) const {
    const auto beyond = std::partition_point(ends_.begin(), ends_.end(),
                                             [end](int64_t each) { return each >= end; });
    return beyond == ends_.begin() ? -1 : rows_[static_cast<size_t>(beyond - ends_.begin()) - 1];
  }

 private:
  std::vector<int64_t> ends_, rows_;
};

}  // namespace

Column<int64_t> innermost_rows(const RowsOnThreads& rows, uint8_t kind, const Moments& moments) {
  Column<int64_t> found;
  found.hold(std::max<size_t>(moments.size, 1));
  found.set_size(moments.size);
  std::vector<size_t> order(moments.size);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return moments.start_ns[a] < moments.start_ns[b]; });
  int64_t threads = 0;
  for (size_t i = 0; i < moments.size; ++i) threads = std::max(threads, moments.thread[i] + 1);
  std::vector<OpenRows> open(static_cast<size_t>(threads));
  std::vector<char> asked(open.size(), 0);
  for (size_t i = 0; i < moments.size; ++i) asked[static_cast<size_t>(moments.thread[i])] = 1;
  size_t next = 0;
  const auto answer_before = [&](int64_t start) {
    for (; next < order.size() && moments.start_ns[order[next]] < start; ++next) {
      const size_t moment = order[next];
      const auto thread = static_cast<size_t>(moments.thread[moment]);
      found[moment] = open[thread].last_reaching(moments.end_ns[moment]);
    }
  };
  with_values(rows.kind, [&](auto kinds) {
    for (size_t row = 0; row < rows.size && next < order.size(); ++row) {
      if (static_cast<uint64_t>(kinds[row]) != kind) continue;
      const int64_t thread = rows.thread[row];
      if (thread < 0 || thread >= threads || asked[static_cast<size_t>(thread)] == 0) continue;
      answer_before(rows.start_ns[row]);
      open[static_cast<size_t>(thread)].open(static_cast<int64_t>(row), rows.end_ns[row]);
    }
  });
  answer_before(std::numeric_limits<int64_t>::max());
  return found;
}

}  // namespace overlap_native
