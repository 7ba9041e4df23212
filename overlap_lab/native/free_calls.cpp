#include "free_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "host_calls.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr int64_t kLongAgo = std::numeric_limits<int64_t>::min();

/// The short calls' kinds of one part, and its calls to be asked.
struct PartOfCalls {
  AlikeParts::Part kinds;
  Column<int32_t> asked;
};

Likeness kind_of(const TraceView& trace, const WaitRules& rules, const WaitingCalls& calls,
                 size_t call, size_t row) {
  int64_t device = trace.device[row];
  const int32_t op = calls.last_op[calls.outer[call]];
  if (device == rules.absent_device && op >= 0) device = calls.device[calls.place[op]];
  const bool whole = is_member(rules.whole_device, trace.api[row]);
  return {calls.thread[call], device, whole ? rules.absent_stream : trace.stream[row], 0};
}

/// Where an enqueue start lies among those of one scope, for ever later ones.
class Cursor {
 public:
  explicit Cursor(const ReachOfScope& scope) : scope_(&scope) {}
  int64_t reach_before(int64_t time) {
    const int64_t* enqueue = scope_->enqueue;
    if (at_ != 0 && enqueue[at_ - 1] >= time) {
      at_ = static_cast<size_t>(std::lower_bound(enqueue, enqueue + at_, time) - enqueue);
    }
    size_t step = 1;
    while (at_ < scope_->size && enqueue[at_] < time) {
      at_ = std::min(at_ + step, scope_->size);
      step *= 2;
    }
    if (step > 2) {  // the last step may have been too long
      const size_t from = at_ - std::min(at_, step);
      at_ = static_cast<size_t>(std::lower_bound(enqueue + from, enqueue + at_, time) - enqueue);
    }
    return scope_->reach[at_];
  }
  bool from_null() const { return scope_->from_null; }

 private:
  const ReachOfScope* scope_;
  size_t at_ = 0;
};

class Counting {
 public:
  Counting(const std::vector<std::vector<ReachOfScope>>& scopes, const int64_t* own_end,
           size_t names)
      : own_end_(own_end) {
    for (const auto& mine : scopes) {
      std::vector<Cursor>& cursors = cursors_.emplace_back();
      for (const ReachOfScope& scope : mine) cursors.emplace_back(scope);
    }
    found.count.assign(names + 1, 0);
    found.longest.assign(names + 1, kLongAgo);
  }
  void meet(size_t call, int32_t kind, int64_t start, int64_t end, int32_t name) {
    for (Cursor& cursor : cursors_[static_cast<size_t>(kind)]) {
      const int64_t reach = cursor.reach_before(start);
      if (reach > start && !(cursor.from_null() && ran_on(call, reach))) return;
    }
    const auto at = static_cast<size_t>(int64_t{name} + 1);
    ++found.count.at(at);  // a name that there is not ends the job
    found.longest[at] = std::max(found.longest[at], end - start);
  }

  FreeCalls found;

 private:
  /// A stream whose work ran on past the call's own was not waited for.
  bool ran_on(size_t call, int64_t reach) const {
    return own_end_ != nullptr && own_end_[call] != kLongAgo && reach > own_end_[call];
  }

  const int64_t* own_end_;
  std::vector<std::vector<Cursor>> cursors_;
};

}  // namespace

SortedCalls sorted_calls(const TraceView& trace, const WaitRules& rules,
                         const WaitingCalls& calls) {
  SortedCalls found;
  found.kind = sized_column<int32_t>(calls.size);
  AlikeParts kinds;
  std::map<size_t, Column<int32_t>> asked;
  std::mutex adding;
  for_parts(calls.size, kAlikeGrain, [&](size_t begin, size_t end) {
    AlikeParts::Part part{begin, end, {}};
    Column<int32_t> mine;
    for (size_t call = begin; call < end; ++call) {
      found.kind[call] = -1;
      const auto row = static_cast<size_t>(calls.host[call]);
      const uint8_t api = trace.api[row];
      const bool always = is_member(rules.always, api);
      if (!always && !is_member(rules.may, api)) continue;
      if (calls.captured != nullptr && calls.captured[call] != 0) continue;
      if (always || trace.end_ns[row] - trace.start_ns[row] > rules.floor_ns) {
        mine.push(static_cast<int32_t>(call));
      } else {
        found.kind[call] = part.likes.of(kind_of(trace, rules, calls, call, row), call);
      }
    }
    kinds.add(std::move(part));
    const std::lock_guard<std::mutex> lock(adding);
    asked.emplace(begin, std::move(mine));
  });
  found.kinds = kinds.joined(found.kind.data());
  for (const auto& [begin, mine] : asked) found.asked.append(mine.data(), mine.size());
  return found;
}

FreeCalls free_calls(const TraceView& trace, const int32_t* host, const int32_t* kind, size_t calls,
                     const std::vector<std::vector<ReachOfScope>>& scopes, const int64_t* own_end,
                     size_t names) {
  FreeCalls all = Counting({}, nullptr, names).found;
  std::mutex adding;
  for_parts(calls, kAlikeGrain, [&](size_t begin, size_t end) {
    Counting counting(scopes, own_end, names);
    for (size_t call = begin; call < end; ++call) {
      if (kind[call] < 0) continue;
      const auto row = static_cast<size_t>(host[call]);
      counting.meet(call, kind[call], trace.start_ns[row], trace.end_ns[row], trace.name[row]);
    }
    const std::lock_guard<std::mutex> lock(adding);
    for (size_t i = 0; i <= names; ++i) {
      all.count[i] += counting.found.count[i];
      all.longest[i] = std::max(all.longest[i], counting.found.longest[i]);
    }
  });
  return all;
}

}  // namespace overlap_native
