#include "enclosing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "threads.h"

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

namespace {

/// When moments begin: on each thread, and on any.
class Beginnings {
 public:
  Beginnings(const Moments& moments, size_t threads)
      : all_(moments.start_ns, moments.start_ns + moments.size) {
    std::sort(all_.begin(), all_.end());
    std::vector<std::vector<int64_t>> mine(threads);
    for (size_t i = 0; i < moments.size; ++i) {
      mine[static_cast<size_t>(moments.thread[i])].push_back(moments.start_ns[i]);
    }
    for (std::vector<int64_t>& each : mine) {
      std::sort(each.begin(), each.end());
      each.push_back(kNever);
    }
    by_thread_ = std::move(mine);
    all_.push_back(kNever);
  }
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t>& all() const { return all_; }
  const std::vector<int64_t>& of(size_t thread) const { return by_thread_[thread]; }

 private:
  std::vector<int64_t> all_;
  std::vector<std::vector<int64_t>> by_thread_;
};

/// Finds a row's thread among some; that of the row before at once.
class ThreadNumbers {
 public:
  ThreadNumbers(const TraceView& trace, const int64_t* rows, size_t threads) : trace_(trace) {
    for (size_t i = 0; i < threads; ++i) {
      keys_.emplace(key(static_cast<size_t>(rows[i])), static_cast<int32_t>(i));
    }
  }
  int32_t of(size_t row) {
    const Key wanted = key(row);
    if (!any_ || wanted != last_key_) {
      const auto found = keys_.find(wanted);
      last_ = found == keys_.end() ? -1 : found->second;
      last_key_ = wanted;
      any_ = true;
    }
    return last_;
  }

 private:
  using Key = std::tuple<int32_t, int32_t, int64_t>;
  Key key(size_t row) const { return {trace_.part[row], trace_.process[row], trace_.thread[row]}; }

  const TraceView& trace_;
  std::map<Key, int32_t> keys_;
  Key last_key_;
  int32_t last_ = -1;
  bool any_ = false;
};

/// The rows of a part of the trace that are near a moment.
NearRows near_in(const TraceView& trace, uint64_t kinds, ThreadNumbers threads,
                 const Beginnings& beginnings, size_t begin, size_t end) {
  NearRows found;
  const int64_t* next = beginnings.all().data();
  std::map<int32_t, const int64_t*> cursors;
  for (size_t row = begin; row < end; ++row) {
    const uint8_t kind = trace.kind[row];
    if (kind >= 64 || (kinds >> kind & 1) == 0) continue;
    const int64_t start = trace.start_ns[row], last = trace.end_ns[row];
    while (*next < start) ++next;
    if (*next > last || *next == Beginnings::kNever) continue;
    const int32_t thread = threads.of(row);
    if (thread < 0) continue;
    const int64_t*& mine =
        cursors.try_emplace(thread, beginnings.of(static_cast<size_t>(thread)).data())
            .first->second;
    while (*mine < start) ++mine;
    if (*mine > last || *mine == Beginnings::kNever) continue;
    found.row.push(static_cast<int32_t>(row));
    found.thread.push(thread);
  }
  return found;
}

}  // namespace

NearRows rows_near(const TraceView& trace, uint64_t kinds, const int64_t* thread_rows,
                   size_t threads, const Moments& moments) {
  const Beginnings beginnings(moments, threads);
  const ThreadNumbers numbers(trace, thread_rows, threads);
  std::map<size_t, NearRows> parts;
  std::mutex adding;
  for_parts(trace.size(), 1 << 17, [&](size_t begin, size_t end) {
    NearRows mine = near_in(trace, kinds, numbers, beginnings, begin, end);
    const std::lock_guard<std::mutex> lock(adding);
    parts.emplace(begin, std::move(mine));
  });
  NearRows all;
  for (auto& [begin, part] : parts) {
    all.row.append(part.row.data(), part.row.size());
    all.thread.append(part.thread.data(), part.thread.size());
  }
  return all;
}

}  // namespace overlap_native
