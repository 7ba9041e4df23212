#include "device_ops.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "number_sort.h"
#include "ordering.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 17;  // what takes longer than to start a thread
constexpr int64_t kLongAgo = std::numeric_limits<int64_t>::min();

Column<int64_t> order_of(const Column<int64_t>& values, const std::function<void()>& interrupted) {
  const IntegerColumn column{reinterpret_cast<const char*>(values.data()), sizeof(int64_t),
                             values.size(), Width::i64};
  return ordered({KeyColumn(column, {nullptr, values.size()}, /*descending=*/false)}, values.size(),
                 interrupted);
}

Column<int64_t> sorted(Column<int64_t> values, const std::function<void()>& interrupted) {
  if (std::is_sorted(values.data(), values.data() + values.size())) return values;
  const auto [low, high] = std::minmax_element(values.data(), values.data() + values.size());
  const auto least = static_cast<uint64_t>(*low);
  const uint64_t span = static_cast<uint64_t>(*high) - least;
  const auto bits = 64 - static_cast<unsigned>(__builtin_clzll(span | 1));
  Column<uint64_t> numbers;
  numbers.adopt(std::move(values));
  for_parts(numbers.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) numbers[i] -= least;
  });
  sort_numbers(numbers, /*low_bit=*/0, bits, interrupted);
  for_parts(numbers.size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) numbers[i] += least;
  });
  Column<int64_t> result;
  result.adopt(std::move(numbers));
  return result;
}

/// When each op came into the queue: with the return of its call, or as it started.
Column<int64_t> came_of(const TraceView& trace, const DeviceOps& ops) {
  Column<int64_t> came = sized_column<int64_t>(ops.size);
  for_parts(ops.size, kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t op = ops.op(i);
      came[i] = std::min(ops.returned(trace, op), ops.start[op]);
    }
  });
  return came;
}

template <class ValueOf>
bool rises(size_t size, const ValueOf& value_of) {
  for (size_t i = 1; i < size; ++i) {
    if (value_of(i - 1) > value_of(i)) return false;
  }
  return true;
}

/// Numbers up to a moment: how many, and the time gone by since each of them.
class Elapsed {
 public:
  explicit Elapsed(size_t size) : size_(size) {}
  template <class ValueOf>
  void advance(int64_t time, const ValueOf& value_of) {
    for (; at_ < size_ && value_of(at_) <= time; ++at_)
      sum_ += static_cast<uint64_t>(value_of(at_));
  }
  uint64_t count() const { return at_; }
  uint64_t since(int64_t time) const { return at_ * static_cast<uint64_t>(time) - sum_; }

 private:
  size_t size_, at_ = 0;
  uint64_t sum_ = 0;  // wraps and unwraps harmlessly
};

/// Of the ops of each graph launch that count the first to start.
class FirstOfGraphs {
 public:
  FirstOfGraphs(const TraceView& trace, const DeviceOps& ops) : trace_(trace), ops_(ops) {
    for (size_t i = 0; i < ops.size; ++i) {
      const size_t op = ops.op(i);
      if (!ops.counts(op) || !ops.of_graph(trace, op)) continue;
      if (first_.empty()) first_.assign(ops.calls, -1);
      int32_t& first = first_[static_cast<size_t>(ops.caller[op])];
      if (first < 0 || ops.start[op] < ops.start[first]) first = static_cast<int32_t>(op);
    }
  }
  bool count(size_t op) const {
    return first_.empty() || !ops_.of_graph(trace_, op) ||
           first_[static_cast<size_t>(ops_.caller[op])] == static_cast<int32_t>(op);
  }

 private:
  const TraceView& trace_;
  const DeviceOps& ops_;
  std::vector<int32_t> first_;  // per call; empty where no graph was launched
};

/// Whether a place has an op outstanding when the next one is enqueued.
class Occupation {
 public:
  explicit Occupation(size_t places) : places_(places) {}
  bool meet(size_t place, int64_t enqueue, int64_t end) {
    Seen& seen = places_[place];
    if (enqueue != seen.enqueue) {
      seen.enqueue = enqueue;
      seen.before = seen.until;
    }
    seen.until = std::max(seen.until, end);
    return seen.before > enqueue;
  }

 private:
  struct Seen {
    int64_t enqueue = kLongAgo;  // of the latest op
    int64_t before = kLongAgo;   // latest end of what was enqueued before that
    int64_t until = kLongAgo;    // latest end of all
  };
  std::vector<Seen> places_;
};

/// When entries of the queue came and went, where graph launches are one entry each.
class Entries {
 public:
  Entries(const TraceView& trace, const DeviceOps& ops, const Column<int64_t>& came) {
    std::vector<int32_t> number;  // per call of its launch
    std::vector<int64_t> first, last;
    for (size_t i = 0; i < ops.size; ++i) {
      const size_t op = ops.op(i);
      if (!ops.of_graph(trace, op)) continue;
      if (number.empty()) number.assign(ops.calls, -1);
      int32_t& mine = number[static_cast<size_t>(ops.caller[op])];
      if (mine < 0) {
        mine = static_cast<int32_t>(first.size());
        first.push_back(came[i]);
        last.push_back(ops.end[op]);
      }
      first[static_cast<size_t>(mine)] = std::min(first[static_cast<size_t>(mine)], came[i]);
      last[static_cast<size_t>(mine)] = std::max(last[static_cast<size_t>(mine)], ops.end[op]);
    }
    if (first.empty()) return;
    for (size_t i = 0; i < ops.size; ++i) {
      if (ops.of_graph(trace, ops.op(i))) continue;
      first.push_back(came[i]);
      last.push_back(ops.end[ops.op(i)]);
    }
    std::sort(first.begin(), first.end());
    std::sort(last.begin(), last.end());
    entered_ = std::move(first);
    left_ = std::move(last);
  }
  bool any() const { return !entered_.empty(); }
  const std::vector<int64_t>& entered() const { return entered_; }
  const std::vector<int64_t>& left() const { return left_; }
  /// How many came until a time, of which so many are known to have.
  size_t entered(size_t known, int64_t time) const { return until(entered_, known, time); }
  size_t left(size_t known, int64_t time) const { return until(left_, known, time); }

 private:
  static size_t until(const std::vector<int64_t>& times, size_t known, int64_t time) {
    while (known < times.size() && times[known] <= time) ++known;
    return known;
  }
  std::vector<int64_t> entered_, left_;
};

/// Their calls lie apart, and are looked up once.
Tenths run_ahead_of_returns(const TraceView& trace, const DeviceOps& ops,
                            const std::vector<unsigned>& tenths) {
  Column<int64_t> leads = sized_column<int64_t>(ops.size);
  for_parts(ops.size, kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t op = ops.op(i);
      leads[i] = ops.counts(op) ? ops.start[op] - ops.returned(trace, op) : kLongAgo;
    }
  });
  return tenths_of(ops.size, tenths, [&](size_t i, int64_t& lead) {
    lead = leads[i];
    return lead != kLongAgo;
  });
}

}  // namespace

Tenths run_ahead(const TraceView& trace, const DeviceOps& ops, bool from_return,
                 const std::vector<unsigned>& tenths) {
  if (from_return) return run_ahead_of_returns(trace, ops, tenths);
  return tenths_of(ops.size, tenths, [&](size_t i, int64_t& lead) {
    const size_t op = ops.op(i);
    lead = ops.start[op] - ops.enqueue[op];
    return ops.counts(op);
  });
}

Tenths empty_run_ahead(const TraceView& trace, const DeviceOps& ops, size_t places,
                       const std::vector<unsigned>& tenths,
                       const std::function<void()>& interrupted) {
  Column<int64_t> order;
  if (!rises(ops.size, [&](size_t i) { return ops.enqueue[ops.op(i)]; })) {
    Column<int64_t> enqueue = sized_column<int64_t>(ops.size);
    for (size_t i = 0; i < ops.size; ++i) enqueue[i] = ops.enqueue[ops.op(i)];
    order = order_of(enqueue, interrupted);
  }
  const FirstOfGraphs firsts(trace, ops);
  Occupation occupation(places);
  std::vector<int64_t> leads;
  for (size_t i = 0; i < ops.size; ++i) {
    const size_t op = ops.op(order.size() == 0 ? i : static_cast<size_t>(order[i]));
    const int64_t enqueue = ops.enqueue[op];
    const bool occupied = occupation.meet(static_cast<size_t>(ops.place[op]), enqueue, ops.end[op]);
    if (!occupied && ops.counts(op) && firsts.count(op)) leads.push_back(ops.start[op] - enqueue);
  }
  return tenths_of(leads.size(), tenths, [&](size_t i, int64_t& lead) {
    lead = leads[i];
    return true;
  });
}

QueueEntries queue_entries(const TraceView& trace, const DeviceOps& ops,
                           const std::function<void()>& interrupted) {
  Column<int64_t> came = came_of(trace, ops);
  const Entries entries(trace, ops, came);
  QueueEntries found;
  found.graphs = entries.any();
  if (found.graphs) {
    found.entered.append(entries.entered().data(), entries.entered().size());
    found.left.append(entries.left().data(), entries.left().size());
  } else {
    found.entered = sorted(std::move(came), interrupted);
  }
  return found;
}

QueuePeaks queue_peaks(const TraceView& trace, const DeviceOps& ops, const int64_t* ends,
                       const std::function<void()>& interrupted) {
  const Column<int64_t> came = came_of(trace, ops);
  Column<int64_t> by_came, by_start;
  if (!rises(ops.size, [&](size_t i) { return came[i]; })) by_came = order_of(came, interrupted);
  if (!rises(ops.size, [&](size_t i) { return ops.start[ops.op(i)]; })) {
    Column<int64_t> start = sized_column<int64_t>(ops.size);
    for (size_t i = 0; i < ops.size; ++i) start[i] = ops.start[ops.op(i)];
    by_start = order_of(start, interrupted);
  }
  const auto listed = [](const Column<int64_t>& order, size_t i) {
    return order.size() == 0 ? i : static_cast<size_t>(order[i]);
  };
  const Entries entries(trace, ops, came);
  size_t entered = 0, gone = 0;
  Elapsed begun(ops.size), ended(ops.size);
  QueuePeaks peaks{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min()};
  uint64_t work = 0;
  for (size_t i = 0; i < ops.size;) {
    const int64_t time = came[listed(by_came, i)];
    for (; i < ops.size && came[listed(by_came, i)] == time; ++i) {
      const size_t op = ops.op(listed(by_came, i));
      work += static_cast<uint64_t>(ops.end[op] - ops.start[op]);
    }
    begun.advance(time, [&](size_t at) { return ops.start[ops.op(listed(by_start, at))]; });
    ended.advance(time, [&](size_t at) { return ends[at]; });
    const uint64_t left = work - begun.since(time) + ended.since(time);
    entered = entries.any() ? entries.entered(entered, time) : i;
    gone = entries.any() ? entries.left(gone, time) : ended.count();
    peaks.depth = std::max(peaks.depth, static_cast<int64_t>(entered) - static_cast<int64_t>(gone));
    peaks.work = std::max(peaks.work, static_cast<int64_t>(left));
  }
  return peaks;
}

IdlePieces idle_pieces(const TraceView& trace, const DeviceOps& ops, const Gaps& gaps,
                       const SplitRules& rules) {
  IdlePieces pieces;
  const auto add = [&](size_t gap, int64_t start, int64_t end, uint8_t cause) {
    if (end <= start) return;
    pieces.start.push(start);
    pieces.end.push(end);
    pieces.cause.push(cause);
    pieces.gap.push(static_cast<int32_t>(gap));
  };
  for (size_t gap = 0; gap < gaps.size; ++gap) {
    const int64_t start = gaps.start[gap];
    const auto op = static_cast<size_t>(gaps.next[gap]);
    const int64_t enqueue = ops.enqueue[op];
    if (gaps.known[gap] != 0) {
      add(gap, start, gaps.end[gap], static_cast<uint8_t>(gaps.known[gap] - 1));
    } else if (enqueue < start) {
      add(gap, start, gaps.end[gap], rules.dependency);
    } else {
      const int64_t end = ops.start[op];
      const int64_t launched = std::min(std::max(enqueue, start), end);
      const int64_t arrived = std::max(enqueue + std::min(end - enqueue, rules.cap_ns), start);
      const int64_t returned = std::min(std::max(ops.returned(trace, op), arrived), end);
      add(gap, start, launched, rules.host_late);
      add(gap, launched, arrived, rules.launch);
      add(gap, arrived, returned, rules.in_call);
      add(gap, returned, end, rules.dependency);
    }
  }
  return pieces;
}

}  // namespace overlap_native
