#include "device_ops.h"

#include <algorithm>
#include <limits>

#include "ordering.h"
#include "sized_column.h"

namespace overlap_native {

namespace {

constexpr int64_t kLongAgo = std::numeric_limits<int64_t>::min();

Column<int64_t> order_of(const Column<int64_t>& values, const std::function<void()>& interrupted) {
  const IntegerColumn column{reinterpret_cast<const char*>(values.data()), sizeof(int64_t),
                             values.size(), Width::i64};
  return ordered({KeyColumn(column, {nullptr, values.size()}, /*descending=*/false)}, values.size(),
                 interrupted);
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

}  // namespace

Tenths run_ahead(const TraceView& trace, const DeviceOps& ops, bool from_return,
                 const std::vector<unsigned>& tenths) {
  return tenths_of(ops.size, tenths, [&](size_t i, int64_t& lead) {
    const size_t op = ops.op(i);
    if (!ops.counts(op)) return false;
    lead = ops.start[op] - (from_return ? ops.returned(trace, op) : ops.enqueue[op]);
    return true;
  });
}

Tenths empty_run_ahead(const DeviceOps& ops, size_t places, const std::vector<unsigned>& tenths,
                       const std::function<void()>& interrupted) {
  struct Seen {
    int64_t enqueue = kLongAgo;  // of the latest op
    int64_t before = kLongAgo;   // latest end of what was enqueued before that
    int64_t until = kLongAgo;    // latest end of all
  };
  Column<int64_t> order;
  if (!rises(ops.size, [&](size_t i) { return ops.enqueue[ops.op(i)]; })) {
    Column<int64_t> enqueue = sized_column<int64_t>(ops.size);
    for (size_t i = 0; i < ops.size; ++i) enqueue[i] = ops.enqueue[ops.op(i)];
    order = order_of(enqueue, interrupted);
  }
  std::vector<Seen> streams(places);
  std::vector<int64_t> leads;
  for (size_t i = 0; i < ops.size; ++i) {
    const size_t op = ops.op(order.size() == 0 ? i : static_cast<size_t>(order[i]));
    Seen& seen = streams[static_cast<size_t>(ops.place[op])];
    if (ops.enqueue[op] != seen.enqueue) {
      seen.enqueue = ops.enqueue[op];
      seen.before = seen.until;
    }
    if (seen.before <= ops.enqueue[op] && ops.counts(op)) {
      leads.push_back(ops.start[op] - ops.enqueue[op]);
    }
    seen.until = std::max(seen.until, ops.end[op]);
  }
  return tenths_of(leads.size(), tenths, [&](size_t i, int64_t& lead) {
    lead = leads[i];
    return true;
  });
}

QueuePeaks queue_peaks(const TraceView& trace, const DeviceOps& ops, const int64_t* ends,
                       const std::function<void()>& interrupted) {
  Column<int64_t> came = sized_column<int64_t>(ops.size);
  for (size_t i = 0; i < ops.size; ++i) {
    const size_t op = ops.op(i);
    came[i] = std::min(ops.returned(trace, op), ops.start[op]);
  }
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
    peaks.depth = std::max(peaks.depth, static_cast<int64_t>(i - ended.count()));
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
