#include "block_order.h"

#include <algorithm>
#include <tuple>

#include "number_sort.h"
#include "sized_column.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;
constexpr size_t kSamples = 8;                             // of the keys, for each slice
constexpr unsigned kLeastRowBits = 18, kMostRowBits = 32;  // of blocks that are worth merging

unsigned bits_of(uint64_t number) {
  unsigned bits = 0;
  for (; number != 0; number >>= 1) ++bits;
  return bits;
}

/// Merges numbers made of a row's start and the row itself, in slices of time.
class Merge {
 public:
  explicit Merge(BlockOrder& found) : found_(found) {}

  /// False where a start and a row of a block do not fit into one number, not even of a small
  /// block.
  bool keys(const std::vector<TimedBlock>& blocks, const std::function<void()>& interrupted) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (const TimedBlock& block : blocks) {
      for (size_t row = 0; row < block.size; ++row) {
        low = std::min(low, block.start_ns[row]);
        high = std::max(high, block.start_ns[row]);
      }
    }
    low_ = static_cast<uint64_t>(low);
    const unsigned time_bits = bits_of(static_cast<uint64_t>(high) - low_);
    split(blocks, size_t{1} << std::clamp(64 - time_bits, kLeastRowBits, kMostRowBits));
    const unsigned bits = row_bits_ + time_bits;
    if (size_ == 0 || size_ > UINT32_MAX || bits > 64) return false;
    keys_.resize(blocks_.size());
    if (blocks_.size() < 2 * thread_count()) {  // each on all threads
      for (size_t at = 0; at < blocks_.size(); ++at) make_keys(at, bits, interrupted);
    } else {
      in_turns(
          blocks_.size(), [this, bits](size_t at, const Stop&) { make_keys(at, bits, [] {}); },
          interrupted);
    }
    return true;
  }

  void merge(const std::function<void()>& interrupted) {
    found_.order = sized_column<uint32_t>(size_, Use::kept);
    found_.place = sized_column<uint32_t>(size_, Use::kept);
    found_.start_ns = sized_column<int64_t>(size_, Use::kept);
    found_.end_ns = sized_column<int64_t>(size_, Use::kept);
    find_edges();
    const size_t slices = edges_.size() - 1, count = std::min(thread_count(), slices);
    std::vector<Task> tasks;
    for (size_t part = 0; part < count; ++part) {
      tasks.emplace_back([=](const Stop& stop) {
        for (size_t slice = slices * part / count; slice < slices * (part + 1) / count; ++slice) {
          if (!stop.asked()) merge_slice(slice);
        }
      });
    }
    if (count == 1) return tasks.front()(Stop());
    run_tasks(tasks, interrupted);
  }

 private:
  /// The keys of a block, sorted.
  void make_keys(size_t at, unsigned bits, const std::function<void()>& interrupted) {
    keys_[at] = sized_column<uint64_t>(blocks_[at].size, Use::kept);
    uint64_t* key = keys_[at].data();
    const int64_t* start = blocks_[at].start_ns;
    for_parts(blocks_[at].size, kGrain, [=](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        key[row] = (static_cast<uint64_t>(start[row]) - low_) << row_bits_ | row;
      }
    });
    sort_numbers(keys_[at], row_bits_, bits, interrupted);
  }

  /// Blocks of at most so many rows: the longer the time, the fewer rows can be told apart in a
  /// key.
  void split(const std::vector<TimedBlock>& blocks, size_t most) {
    size_t largest = 0;
    for (const TimedBlock& block : blocks) {
      for (size_t row = 0; row < block.size; row += most) {
        const size_t size = std::min(most, block.size - row);
        blocks_.push_back({block.start_ns + row, block.end_ns + row, size});
        first_.push_back(size_);
        size_ += size;
        largest = std::max(largest, size);
      }
    }
    row_bits_ = bits_of(std::max<size_t>(largest, 1) - 1);
  }

  /// What is left of a block's part of a slice.
  struct Left {
    const uint64_t *next, *end;
    size_t block;
  };

  /// How many keys of each block lie before each slice. Rows that start together are in one slice.
  void find_edges() {
    const size_t slices = std::max<size_t>(size_ / kGrain, 1);
    const size_t step = std::max<size_t>(size_ / (slices * kSamples), 1);
    std::vector<uint64_t> samples;
    for (const Column<uint64_t>& keys : keys_) {
      for (size_t at = step / 2; at < keys.size(); at += step) samples.push_back(keys[at]);
    }
    std::sort(samples.begin(), samples.end());
    edges_.emplace_back(keys_.size(), 0);
    for (size_t slice = 1; slice < slices && !samples.empty(); ++slice) {
      const uint64_t key = samples[samples.size() * slice / slices] >> row_bits_ << row_bits_;
      edges_.emplace_back();
      for (const Column<uint64_t>& keys : keys_) {
        const uint64_t* begin = keys.data();
        edges_.back().push_back(
            static_cast<size_t>(std::lower_bound(begin, begin + keys.size(), key) - begin));
      }
    }
    edges_.emplace_back();
    for (const Column<uint64_t>& keys : keys_) edges_.back().push_back(keys.size());
  }

  void merge_slice(size_t slice) const {
    std::vector<Left> all;
    size_t begin = 0;
    for (size_t block = 0; block < keys_.size(); ++block) {
      const size_t from = edges_[slice][block], to = edges_[slice + 1][block];
      begin += from;
      if (from < to) all.push_back({keys_[block].data() + from, keys_[block].data() + to, block});
    }
    size_t at = begin;
    while (!all.empty()) at = take_least(all, at);
    settle_ties(begin, at);
    for (size_t i = begin; i < at; ++i) {
      found_.place[found_.order[i]] = static_cast<uint32_t>(i);
    }
  }

  /// Takes what is before the next key of all other blocks, at least one; where the places go on.
  /// Rows that start together are put in order later.
  size_t take_least(std::vector<Left>& all, size_t at) const {
    size_t least = 0;
    uint64_t limit = UINT64_MAX;
    for (size_t i = 1; i < all.size(); ++i) {
      if (*all[i].next < *all[least].next) {
        limit = *all[least].next;
        least = i;
      } else {
        limit = std::min(limit, *all[i].next);
      }
    }
    Left& left = all[least];
    const int64_t* end_ns = blocks_[left.block].end_ns;
    const size_t first = first_[left.block];
    do {
      const size_t row = *left.next & ((uint64_t{1} << row_bits_) - 1);
      found_.order[at] = static_cast<uint32_t>(first + row);
      found_.end_ns[at] = end_ns[row];
      found_.start_ns[at] = static_cast<int64_t>((*left.next >> row_bits_) + low_);
      ++left.next, ++at;
    } while (left.next != left.end && *left.next < limit);
    if (left.next == left.end) all.erase(all.begin() + static_cast<std::ptrdiff_t>(least));
    return at;
  }

  int64_t end_of(uint32_t row) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), row);
    const auto block = static_cast<size_t>(after - first_.begin()) - 1;
    return blocks_[block].end_ns[row - first_[block]];
  }

  void settle_ties(size_t begin, size_t end) const {
    const auto before = [this](uint32_t left, uint32_t right) {
      return std::make_tuple(end_of(right), left) < std::make_tuple(end_of(left), right);
    };
    for (size_t tie = begin, i = begin + 1; i <= end; ++i) {
      if (i != end && found_.start_ns[i] == found_.start_ns[tie]) continue;
      uint32_t* order = found_.order.data();
      if (i - tie > 1) {
        std::sort(order + tie, order + i, before);
        for (; tie < i; ++tie) found_.end_ns[tie] = end_of(order[tie]);
      }
      tie = i;
    }
  }

  BlockOrder& found_;
  std::vector<TimedBlock> blocks_;
  std::vector<size_t> first_;  // row of each block
  std::vector<Column<uint64_t>> keys_;
  std::vector<std::vector<size_t>> edges_;  // of each slice, by block
  uint64_t low_ = 0;
  size_t size_ = 0;
  unsigned row_bits_ = 0;
};

}  // namespace

bool block_order(const std::vector<TimedBlock>& blocks, const std::function<void()>& interrupted,
                 BlockOrder& found) {
  Merge merge(found);
  if (!merge.keys(blocks, interrupted)) return false;
  merge.merge(interrupted);
  return true;
}

}  // namespace overlap_native
