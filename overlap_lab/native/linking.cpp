#include "linking.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "lookup.h"
#include "ordering.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr int kMostAlike = 64;

bool has_id(uint64_t id) { return id != 0 && id != ~uint64_t{0}; }

/// The calls that may own ops, by their ids, those of one id as they come.
class CallsById {
 public:
  CallsById(const TraceView& trace, const LinkRules& rules, const Callers& calls,
            const std::function<void()>& interrupted)
      : trace_(trace), rules_(rules), calls_(calls) {
    int64_t before = std::numeric_limits<int64_t>::min();
    bool rises = true;
    for (size_t call = 0; call < calls.size; ++call) {
      const auto row = static_cast<size_t>(calls.host[call]);
      if (!is_member(rules.owners, trace.api[row])) continue;
      const uint64_t id = trace.correlation[row];
      repeats_ |= id == ~uint64_t{0};
      if (!has_id(id) || (calls.captured != nullptr && calls.captured[call] != 0)) continue;
      in_order_ &= trace.start_ns[row] >= before;
      before = trace.start_ns[row];
      rises &= ids_.size() == 0 || ids_[ids_.size() - 1] < id;
      ids_.push(id);
      call_.push(static_cast<int32_t>(call));
    }
    if (!rises) sort(interrupted);
  }
  bool in_order() const { return in_order_; }
  bool repeats() const { return repeats_; }

  /// The latest call of the op's id, part and process that starts before it, else the first such;
  /// -1 for none. `tangled` is set where too many calls have the id. Ops that come in the order of
  /// their ids are quick: `hint` is where the last one was found.
  int32_t caller_of(size_t row, size_t& hint, bool& tangled) const {
    const uint64_t id = trace_.correlation[row];
    if (!has_id(id)) return -1;
    hint = from_hint(hint, ids_.size(), [&](size_t at) { return ids_[at] <= id; });
    int32_t found = -1;
    int seen = 0;
    for (size_t at = hint; at != 0 && ids_[at - 1] == id && !tangled; --at) {
      tangled = ++seen > kMostAlike;
      const auto its_row = static_cast<size_t>(calls_.host[call_[at - 1]]);
      if (!alike(row, its_row)) continue;
      found = call_[at - 1];
      if (trace_.start_ns[its_row] < trace_.start_ns[row]) break;
    }
    return found;
  }

 private:
  void sort(const std::function<void()>& interrupted) {
    const IntegerColumn column{reinterpret_cast<const char*>(ids_.data()), sizeof(uint64_t),
                               ids_.size(), Width::u64};
    const Column<int64_t> order =
        ordered({KeyColumn(column, {nullptr, ids_.size()}, /*descending=*/false)}, ids_.size(),
                interrupted);
    Column<uint64_t> ids = sized_column<uint64_t>(ids_.size());
    Column<int32_t> call = sized_column<int32_t>(ids_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      ids[i] = ids_[static_cast<size_t>(order[i])];
      call[i] = call_[static_cast<size_t>(order[i])];
      repeats_ |= i != 0 && ids[i] == ids[i - 1];
    }
    ids_ = std::move(ids);
    call_ = std::move(call);
  }
  bool alike(size_t op, size_t call) const {
    const int32_t process = trace_.process[op];
    return trace_.part[op] == trace_.part[call] &&
           (process == rules_.absent_process || process == trace_.process[call]);
  }

  const TraceView& trace_;
  const LinkRules& rules_;
  const Callers& calls_;
  Column<uint64_t> ids_;
  Column<int32_t> call_;
  bool repeats_ = false, in_order_ = true;
};

/// Where the op ran and for whom: each its own, else its call's.
Likeness place_of(const TraceView& trace, const LinkRules& rules, size_t row, size_t call_row) {
  int32_t process = trace.process[row];
  int16_t device = trace.device[row];
  int64_t stream = trace.stream[row];
  if (process == rules.absent_process) process = trace.process[call_row];
  if (device == rules.absent_device) device = trace.device[call_row];
  if (stream == rules.absent_stream) stream = trace.stream[call_row];
  return {trace.part[row], process, device, stream};
}

/// Feeds by the places' numbers of parts, as feeds by their final ones.
Alike feeds_of(const std::map<size_t, Likes>& feeds, const AlikeParts& places) {
  Alike all;
  size_t part = 0;
  for (const auto& [begin, likes] : feeds) {
    for (Likeness each : likes.all()) {
      each[1] = places.ranks()[part][static_cast<size_t>(each[1])];
      all.all.push_back(each);
    }
    ++part;
  }
  std::sort(all.all.begin(), all.all.end());
  all.all.erase(std::unique(all.all.begin(), all.all.end()), all.all.end());
  return all;
}

}  // namespace

LinkedOps linked_ops(const TraceView& trace, const LinkRules& rules, const Callers& calls,
                     const int32_t* op, size_t ops, const std::function<void()>& interrupted) {
  const CallsById by_id(trace, rules, calls, interrupted);
  LinkedOps found;
  found.ids_repeat = by_id.repeats();
  found.sound = by_id.in_order();
  if (!found.sound) return found;
  found.caller = sized_column<int32_t>(ops);
  found.enqueue = sized_column<int64_t>(ops);
  found.start = sized_column<int64_t>(ops);
  found.end = sized_column<int64_t>(ops);
  found.place = sized_column<int32_t>(ops);
  std::atomic<bool> tangled{false};
  AlikeParts places;
  std::mutex adding;
  std::map<size_t, Likes> feeds;  // by where the part begins
  for_parts(ops, kAlikeGrain, [&](size_t begin, size_t end) {
    AlikeParts::Part part{begin, end, {}};
    Likes fed;
    size_t hint = 0;
    bool mine = false;
    for (size_t i = begin; i < end; ++i) {
      const auto row = static_cast<size_t>(op[i]);
      const int32_t call = by_id.caller_of(row, hint, mine);
      const size_t call_row = call < 0 ? row : static_cast<size_t>(calls.host[call]);
      found.set(i, trace, row, call_row);
      found.caller[i] = call;
      found.place[i] = part.likes.of(place_of(trace, rules, row, call_row), i);
      if (call >= 0) fed.of({calls.thread[call], found.place[i], 0, 0}, i);
    }
    if (mine) tangled = true;
    places.add(std::move(part));
    const std::lock_guard<std::mutex> lock(adding);
    feeds.emplace(begin, std::move(fed));
  });
  found.places = places.joined(found.place.data());
  found.feeds = feeds_of(feeds, places);
  found.sound = !tangled;
  return found;
}

OwnOps own_ops(const FlaggedOps& ops, const Lent<uint8_t>& copy_kind, const Lent<uint8_t>& memory) {
  std::vector<int32_t> number(ops.calls, -1);
  int32_t flagged = 0;
  for (size_t call = 0; call < ops.calls; ++call) {
    if (ops.flags[call] != 0) number[call] = flagged++;
  }
  OwnOps own;
  own.first = sized_column<int64_t>(static_cast<size_t>(flagged));
  own.last = sized_column<int64_t>(static_cast<size_t>(flagged));
  std::fill_n(own.first.data(), flagged, std::numeric_limits<int64_t>::max());
  std::fill_n(own.last.data(), flagged, std::numeric_limits<int64_t>::min());
  Likes kinds;
  struct Ended {
    int32_t last, latest;  // the last op of the kind, and the one that ended last
  };
  std::vector<Ended> ended;
  for (size_t op = 0; op < ops.size; ++op) {
    if (ops.caller[op] < 0) continue;
    const int32_t group = number[static_cast<size_t>(ops.outer[ops.caller[op]])];
    if (group < 0) continue;
    const auto row = static_cast<size_t>(ops.row[op]), at = static_cast<size_t>(group);
    own.first[at] = std::min(own.first[at], ops.start[op]);
    own.last[at] = std::max(own.last[at], ops.end[op]);
    const int64_t made = copy_kind[row] << 8 | memory[row];
    const auto kind = static_cast<size_t>(kinds.of({group, ops.place[op], made, 0}, op));
    const auto mine = static_cast<int32_t>(op);
    if (kind == ended.size()) ended.push_back({mine, mine});
    if (ops.end[op] >= ops.end[ended[kind].latest]) ended[kind].latest = mine;
    ended[kind].last = mine;
  }
  std::sort(ended.begin(), ended.end(),
            [](const Ended& a, const Ended& b) { return a.last < b.last; });
  for (const Ended& each : ended) own.op.push(each.latest);
  return own;
}

OwnedOps owned_ops(const int32_t* caller, size_t ops, const int32_t* outer, size_t calls) {
  OwnedOps owned;
  owned.last = sized_column<int32_t>(calls);
  std::fill(owned.last.data(), owned.last.data() + calls, -1);
  for (size_t i = 0; i < ops; ++i) {
    if (caller[i] < 0) continue;
    int32_t& last = owned.last[static_cast<size_t>(outer[caller[i]])];
    owned.several |= last >= 0;
    last = static_cast<int32_t>(i);
  }
  return owned;
}

}  // namespace overlap_native
