#include "faults.h"

#include <atomic>
#include <limits>

#include "ordering.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

bool in_time_order(const PlacedOps& ops) {
  for (size_t i = 1; i < ops.size; ++i) {
    if (ops.start[i - 1] > ops.start[i]) return false;
    if (ops.start[i - 1] == ops.start[i] && ops.end[i - 1] < ops.end[i]) return false;
  }
  return true;
}

/// Meets the ops in the order of their starts, of several at once the longer first.
class Succession {
 public:
  Succession(const PlacedOps& ops, int64_t jitter, int64_t corrupt)
      : ops_(ops), jitter_(jitter), corrupt_(corrupt), last_(ops.in_turn.size(), -1) {}

  void meet(size_t op) {
    const auto place = static_cast<size_t>(ops_.place[op]);
    if (ops_.in_turn[place] == 0) return add(op, -kNever, kNever);
    const int64_t before = last_[place];
    last_[place] = static_cast<int64_t>(op);
    if (before < 0) return;
    const int64_t over = ops_.end[before] - ops_.start[op];
    if (over <= jitter_) return;
    if (over <= corrupt_) {
      ++found_.overlaps;
    } else {
      add(static_cast<size_t>(before), over, ops_.start[op]);
    }
  }
  Overruns finished() {
    for (const int64_t op : last_) {
      if (op >= 0) add(static_cast<size_t>(op), -kNever, kNever);
    }
    return std::move(found_);
  }

 private:
  void add(size_t op, int64_t over, int64_t following) {
    found_.asked.push(static_cast<int32_t>(op));
    found_.over.push(over);
    found_.following.push(following);
  }

  const PlacedOps& ops_;
  int64_t jitter_, corrupt_;
  std::vector<int64_t> last_;
  Overruns found_;
};

}  // namespace

Overruns overruns_of(const PlacedOps& ops, int64_t jitter, int64_t corrupt,
                     const std::function<void()>& interrupted) {
  Succession succession(ops, jitter, corrupt);
  if (in_time_order(ops)) {
    for (size_t op = 0; op < ops.size; ++op) succession.meet(op);
    return succession.finished();
  }
  const auto key = [&](const int64_t* values, bool falls) {
    const IntegerColumn column{reinterpret_cast<const char*>(values), sizeof(int64_t), ops.size,
                               Width::i64};
    return KeyColumn(column, {nullptr, ops.size}, falls);
  };
  const Column<int64_t> order =
      ordered({key(ops.start, false), key(ops.end, true)}, ops.size, interrupted);
  for (size_t i = 0; i < ops.size; ++i) succession.meet(static_cast<size_t>(order[i]));
  return succession.finished();
}

OpFaults op_faults(const TraceView& trace, const int32_t* host, const FaultyOps& ops) {
  std::atomic<size_t> unlinked{0}, inverted{0}, empty{0}, graph{0};
  for_parts(ops.size, kGrain, [&](size_t begin, size_t end) {
    OpFaults mine;
    for (size_t i = begin; i < end; ++i) {
      const int32_t caller = ops.caller[i];
      mine.unlinked += caller < 0 ? 1 : 0;
      mine.inverted += ops.start[i] < ops.enqueue[i] ? 1 : 0;
      mine.empty += ops.start[i] == ops.end[i] ? 1 : 0;
      const bool launched =
          caller >= 0 && trace.api[static_cast<size_t>(host[caller])] == ops.graph_launch;
      const bool named = trace.graph[static_cast<size_t>(ops.row[i])] != ops.absent_graph;
      mine.graph += launched || named ? 1 : 0;
    }
    unlinked += mine.unlinked;
    inverted += mine.inverted;
    empty += mine.empty;
    graph += mine.graph;
  });
  return {unlinked, inverted, empty, graph};
}

CallFaults call_faults(const TraceView& trace, const OwningCalls& calls, uint64_t owners,
                       uint8_t copy) {
  CallFaults found;
  for (size_t call = 0; call < calls.size; ++call) {
    const uint8_t api = trace.api[static_cast<size_t>(calls.host[call])];
    if (!is_member(owners, api)) continue;
    ++found.owners;
    const bool owns = calls.last_op[calls.outer[call]] >= 0;
    if (api == copy) {
      ++found.copies;
      found.copies_without_op += owns ? 0 : 1;
      continue;
    }
    const bool captured = calls.captured != nullptr && calls.captured[call] != 0;
    // An outer call and the driver call in it are one launch: the inner one is not asked.
    const bool outer = calls.outer[call] == static_cast<int32_t>(call);
    if (!owns && !captured && outer) found.lost.push(static_cast<int32_t>(call));
  }
  return found;
}

}  // namespace overlap_native
