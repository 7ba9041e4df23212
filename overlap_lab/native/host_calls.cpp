#include "host_calls.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "ordering.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 15;

/// How many rows of each block are host calls and ops, then where each block's begin.
struct Share {
  size_t host = 0, ops = 0;
};

std::vector<Share> shares_of(const TraceView& trace, const LinkRules& rules, size_t blocks) {
  std::vector<Share> shares(blocks + 1);
  for_parts(blocks, 4, [&](size_t first, size_t last) {
    for (size_t block = first; block < last; ++block) {
      const size_t end = std::min(trace.size(), (block + 1) * kGrain);
      Share share;
      for (size_t row = block * kGrain; row < end; ++row) {
        const uint8_t kind = trace.kind[row];
        share.host += is_member(rules.host, kind) ? 1 : 0;
        share.ops += is_member(rules.ops, kind) ? 1 : 0;
      }
      shares[block + 1] = share;
    }
  });
  for (size_t block = 1; block <= blocks; ++block) {
    shares[block].host += shares[block - 1].host;
    shares[block].ops += shares[block - 1].ops;
  }
  return shares;
}

/// The outermost interval of a thread that is open.
struct Holder {
  bool any = false;
  int64_t start = 0, end = 0;
  int32_t call = 0;
  void meet(int64_t next_start, int64_t next_end, int32_t next) {
    const bool behind = next_start == end && next_end == end && start < next_start;
    if (any && next_end <= end && !behind) return;
    *this = {true, next_start, next_end, next};
  }
};

/// Meets enqueue calls by start, of several at once the longer first.
class OuterCalls {
 public:
  OuterCalls(const TraceView& trace, const Callers& calls)
      : trace_(trace), calls_(calls), outer_(sized_column<int32_t>(calls.size)) {
    int32_t threads = 0;
    for (size_t call = 0; call < calls.size; ++call) {
      outer_[call] = static_cast<int32_t>(call);
      threads = std::max(threads, calls.thread[call] + 1);
    }
    holders_.resize(static_cast<size_t>(threads));
  }
  /// Whether the call comes in its turn.
  bool meet(size_t call) {
    const auto row = static_cast<size_t>(calls_.host[call]);
    const int64_t start = trace_.start_ns[row], end = trace_.end_ns[row];
    Holder& holder = holders_[static_cast<size_t>(calls_.thread[call])];
    holder.meet(start, end, static_cast<int32_t>(call));
    outer_[call] = holder.call;
    const bool in_turn = last_start_ < start || (last_start_ == start && last_end_ >= end);
    last_start_ = start;
    last_end_ = end;
    return in_turn;
  }
  Column<int32_t> found() { return std::move(outer_); }

 private:
  const TraceView& trace_;
  const Callers& calls_;
  Column<int32_t> outer_;
  std::vector<Holder> holders_;
  int64_t last_start_ = std::numeric_limits<int64_t>::min();
  int64_t last_end_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

CallsAndOps calls_and_ops(const TraceView& trace, const LinkRules& rules) {
  const size_t blocks = (trace.size() + kGrain - 1) / kGrain;
  const std::vector<Share> shares = shares_of(trace, rules, blocks);
  CallsAndOps found;
  found.calls.row = sized_column<int32_t>(shares[blocks].host);
  found.op = sized_column<int32_t>(shares[blocks].ops);
  std::atomic<uint64_t> apis{0};
  for_parts(blocks, 4, [&](size_t first, size_t last) {
    uint64_t mine = 0;
    int32_t* host = found.calls.row.data() + shares[first].host;
    int32_t* op = found.op.data() + shares[first].ops;
    for (size_t row = first * kGrain; row < std::min(trace.size(), last * kGrain); ++row) {
      const uint8_t kind = trace.kind[row];
      if (is_member(rules.host, kind)) {
        *host++ = static_cast<int32_t>(row);
        mine |= uint64_t{1} << (trace.api[row] & 63);
      } else if (is_member(rules.ops, kind)) {
        *op++ = static_cast<int32_t>(row);
      }
    }
    apis |= mine;
  });
  found.calls.apis = apis;
  const size_t calls = found.calls.row.size();
  found.calls.thread = sized_column<int32_t>(calls);
  const int32_t* host = found.calls.row.data();
  Alike threads = alike(calls, found.calls.thread.data(), [&](size_t call) {
    const auto row = static_cast<size_t>(host[call]);
    return Likeness{trace.part[row], trace.process[row], trace.thread[row], 0};
  });
  for (int64_t& each : threads.first) each = host[each];
  found.calls.thread_rows = std::move(threads.first);
  return found;
}

Column<int32_t> outer_calls(const TraceView& trace, const LinkRules& rules, const Callers& calls,
                            const std::function<void()>& interrupted) {
  OuterCalls search(trace, calls);
  Column<int64_t> start, end, owner;
  bool in_order = true;
  for (size_t call = 0; call < calls.size; ++call) {
    if (is_member(rules.owners, trace.api[static_cast<size_t>(calls.host[call])])) {
      in_order &= search.meet(call);
    }
  }
  if (in_order) return search.found();
  OuterCalls again(trace, calls);
  for (size_t call = 0; call < calls.size; ++call) {
    const auto row = static_cast<size_t>(calls.host[call]);
    if (!is_member(rules.owners, trace.api[row])) continue;
    start.push(trace.start_ns[row]);
    end.push(trace.end_ns[row]);
    owner.push(static_cast<int64_t>(call));
  }
  const auto key = [&](const Column<int64_t>& values, bool falls) {
    const IntegerColumn column{reinterpret_cast<const char*>(values.data()), sizeof(int64_t),
                               values.size(), Width::i64};
    return KeyColumn(column, {nullptr, values.size()}, falls);
  };
  const Column<int64_t> order =
      ordered({key(start, false), key(end, true)}, start.size(), interrupted);
  for (size_t i = 0; i < order.size(); ++i) {
    again.meet(static_cast<size_t>(owner[static_cast<size_t>(order[i])]));
  }
  return again.found();
}

}  // namespace overlap_native
