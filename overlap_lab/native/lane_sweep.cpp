#include "lane_sweep.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "ordering.h"
#include "sized_column.h"

namespace overlap_native {

namespace {

/// The ops of a lane by start.
class ByStart {
 public:
  ByStart(const TimedOps& ops, const int32_t* index, size_t size,
          const std::function<void()>& interrupted)
      : index_(index), size_(size) {
    bool rises = true;
    for (size_t i = 1; i < size && rises; ++i) {
      rises = ops.start[listed(i - 1)] <= ops.start[listed(i)];
    }
    if (rises) return;
    Column<int64_t> start = sized_column<int64_t>(size);
    for (size_t i = 0; i < size; ++i) start[i] = ops.start[listed(i)];
    const IntegerColumn column{reinterpret_cast<const char*>(start.data()), sizeof(int64_t), size,
                               Width::i64};
    order_ = ordered({KeyColumn(column, {nullptr, size}, /*descending=*/false)}, size, interrupted);
  }
  size_t size() const { return size_; }
  size_t operator[](size_t i) const {
    return listed(order_.size() == 0 ? i : static_cast<size_t>(order_[i]));
  }

 private:
  size_t listed(size_t i) const { return index_ == nullptr ? i : static_cast<size_t>(index_[i]); }

  const int32_t* index_;
  size_t size_;
  Column<int64_t> order_;  // empty where the ops are in order
};

class LaneSweep {
 public:
  LaneSweep(const TimedOps& ops, const ByStart& lane) : ops_(ops), lane_(lane) {}

  LaneEdges edges() {
    reach_ = last_ = ops_.start[lane_[0]];
    edges_.start.push(reach_);
    for (size_t i = 0; i < lane_.size(); ++i) meet(i);
    if (last_ > reach_) add_gap(last_);
    if (any_) edges_.start.push(reach_);
    edges_.end.push(last_);
    return std::move(edges_);
  }

 private:
  void meet(size_t i) {
    const size_t op = lane_[i];
    const int64_t start = ops_.start[op], end = ops_.end[op];
    if (start != tie_start_ || i == 0) {
      tie_ = i;
      tie_start_ = start;
    }
    last_ = std::max(last_, end);
    if (end > start) {
      if (start > reach_) add_gap(start);
      if (start > reach_ || !any_) begin_busy(start);
      any_ = true;
      if (end > reach_) {
        reach_ = end;
        opener_ = op;
        return;
      }
    }
    // An op of no length keeps nothing busy, but may be the one after which the gap opens.
    if (end == reach_ && (opener_ == kNone || ends_later(op))) opener_ = op;
  }
  bool ends_later(size_t op) const {
    return std::make_tuple(ops_.enqueue[opener_], opener_) < std::make_tuple(ops_.enqueue[op], op);
  }
  void begin_busy(int64_t start) {
    if (any_) edges_.start.push(reach_);
    edges_.end.push(start);
  }
  void add_gap(int64_t end) {
    edges_.previous.push(static_cast<int32_t>(opener_));
    size_t best = lane_[tie_];
    for (size_t i = tie_; i < lane_.size() && ops_.start[lane_[i]] == end; ++i) {
      const size_t op = lane_[i];
      if (std::make_tuple(ops_.end[best], ops_.enqueue[op], op) <
          std::make_tuple(ops_.end[op], ops_.enqueue[best], best)) {
        best = op;
      }
    }
    edges_.next.push(static_cast<int32_t>(best));
  }

  static constexpr size_t kNone = ~size_t{0};
  const TimedOps& ops_;
  const ByStart& lane_;
  LaneEdges edges_;
  int64_t reach_ = 0, last_ = 0;
  bool any_ = false;       // whether some op had a length
  size_t opener_ = kNone;  // the op that ends at `reach_`
  size_t tie_ = 0;         // the first op that starts with this one
  int64_t tie_start_ = 0;
};

}  // namespace

LaneEdges lane_edges(const TimedOps& ops, const int32_t* index, size_t size,
                     const std::function<void()>& interrupted) {
  const ByStart lane(ops, index, size, interrupted);
  return LaneSweep(ops, lane).edges();
}

std::vector<int64_t> busy_by_place(const TimedOps& ops, const int32_t* place, size_t places,
                                   int64_t first, int64_t last,
                                   const std::function<void()>& interrupted) {
  std::vector<int64_t> busy(places, 0);
  std::vector<int64_t> reach(places, first);
  const ByStart all(ops, nullptr, ops.size, interrupted);
  for (size_t i = 0; i < ops.size; ++i) {
    const size_t op = all[i];
    const auto at = static_cast<size_t>(place[op]);
    const int64_t from = std::max(ops.start[op], reach[at]), to = std::min(ops.end[op], last);
    if (to <= from) continue;
    busy[at] += to - from;
    reach[at] = to;
  }
  return busy;
}

Touched touched_places(const EndedOps& ops, const EndedQueries& queries, size_t places) {
  Touched found;
  std::vector<size_t> last(places, 0);  // the query that met each place last, plus 1
  for (size_t query = 0; query < queries.size; ++query) {
    for (int64_t at = queries.low[query]; at < queries.high[query]; ++at) {
      if (ops.enqueue[at] >= queries.limit[query]) continue;
      const int32_t place = ops.place[ops.op[at]];
      if (last[static_cast<size_t>(place)] == query + 1) continue;
      last[static_cast<size_t>(place)] = query + 1;
      found.query.push(static_cast<int64_t>(query));
      found.place.push(place);
    }
  }
  return found;
}

}  // namespace overlap_native
