#include "callers.h"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 18;
constexpr uint64_t kSpare = 1 << 20;

/// Which ids are asked for.
class Asked {
 public:
  Asked(const LinkedRows& rows, const int64_t* wanted, size_t count) {
    uint64_t high = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t id = rows.correlation[wanted[i]];
      if (id == 0) continue;
      low_ = std::min(low_, id);
      high = std::max(high, id);
    }
    const bool dense = high >= low_ && high - low_ <= 8 * rows.size + kSpare;
    if (dense) near_.assign(high - low_ + 1, 0);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t id = rows.correlation[wanted[i]];
      if (id == 0) continue;
      if (dense) near_[id - low_] = 1;
      if (!dense) far_.insert(id);
    }
  }
  bool holds(uint64_t id) const {
    if (!near_.empty()) return id - low_ < near_.size() && near_[id - low_] != 0;
    return far_.count(id) != 0;
  }

 private:
  uint64_t low_ = UINT64_MAX;
  std::vector<uint8_t> near_;
  std::unordered_set<uint64_t> far_;
};

struct Call {
  uint64_t id;
  int64_t part, process;
  int64_t start_ns;
  int64_t added;
  int64_t row;

  auto key() const { return std::tie(id, part, process); }
  bool operator<(const Call& other) const {
    return std::tie(id, part, process, start_ns, added) <
           std::tie(other.id, other.part, other.process, other.start_ns, other.added);
  }
};

class Search {
 public:
  Search(const LinkedRows& rows, CallKind call, const int64_t* wanted, size_t count)
      : rows_(rows), call_(call), wanted_(wanted), count_(count), asked_(rows, wanted, count) {}

  Column<int64_t> callers() {
    find_calls();
    Column<int64_t> found;
    found.hold(std::max<size_t>(count_, 1));
    found.set_size(count_);
    for_parts(count_, kGrain / 8, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) found[i] = caller_of(wanted_[i]);
    });
    return found;
  }

 private:
  bool is_call(size_t row) const {
    return rows_.kind[row] == call_.kind && rows_.correlation[row] != 0;
  }
  bool known(size_t row) const { return rows_.process[row] != call_.absent_process; }

  Call call_at(size_t row) const {
    int64_t part = 0;
    with_values(rows_.part, [&](auto values) { part = static_cast<int64_t>(values[row]); });
    const size_t added = rows_.added == nullptr ? row : rows_.added[row];
    return {rows_.correlation[row],
            part,
            all_known_ ? rows_.process[row] : 0,
            rows_.start_ns[row],
            static_cast<int64_t>(added),
            static_cast<int64_t>(row)};
  }

  void find_calls() {
    std::atomic<bool> all_known{true};
    for (size_t i = 0; i < count_; ++i) {
      const auto row = static_cast<size_t>(wanted_[i]);
      if (rows_.correlation[row] != 0 && !known(row)) all_known = false;
    }
    const size_t blocks = (rows_.size + kGrain - 1) / kGrain;
    std::vector<std::vector<size_t>> found(blocks);
    for_parts(blocks, 1, [&](size_t first, size_t last) {
      for (size_t block = first; block < last; ++block) {
        const size_t end = std::min(rows_.size, (block + 1) * kGrain);
        for (size_t row = block * kGrain; row < end; ++row) {
          if (!is_call(row)) continue;
          if (!known(row)) all_known = false;
          if (asked_.holds(rows_.correlation[row])) found[block].push_back(row);
        }
      }
    });
    all_known_ = all_known;
    for (const std::vector<size_t>& block : found) {
      for (const size_t row : block) calls_.push_back(call_at(row));
    }
    if (!std::is_sorted(calls_.begin(), calls_.end())) std::sort(calls_.begin(), calls_.end());
  }

  int64_t caller_of(int64_t row) const {
    Call asked = call_at(static_cast<size_t>(row));
    if (asked.id == 0) return -1;
    asked.added = INT64_MAX;  // behind all calls that start with it
    const auto later = std::upper_bound(calls_.begin(), calls_.end(), asked);
    if (later != calls_.begin() && (later - 1)->key() == asked.key()) return (later - 1)->row;
    return later != calls_.end() && later->key() == asked.key() ? later->row : -1;
  }

  const LinkedRows& rows_;
  CallKind call_;
  const int64_t* wanted_;
  size_t count_;
  Asked asked_;
  bool all_known_ = true;
  std::vector<Call> calls_;
};

}  // namespace

Column<int64_t> callers_of(const LinkedRows& rows, CallKind call, const int64_t* wanted,
                           size_t count) {
  return Search(rows, call, wanted, count).callers();
}

}  // namespace overlap_native
