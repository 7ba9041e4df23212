// The order of rows by several columns, and their depths: held to a comparison of neighbours, and
// to a stack per lane.
#include <algorithm>
#include <cstring>
#include <vector>

#include "law.h"
#include "nesting.h"
#include "ordering.h"

namespace {

using fuzz::Choices;
using fuzz::require;
using overlap_native::IntegerColumn;
using overlap_native::KeyColumn;
using overlap_native::Width;

/// A column whose values lie `stride` bytes apart, of any width.
class MadeColumn {
 public:
  MadeColumn(Width width, bool spaced, size_t size)
      : bytes_(bytes_of(width)), stride_(spaced ? 2 * bytes_ : bytes_), width_(width), size_(size) {
    memory_.resize((size * stride_ + sizeof(int64_t)) / sizeof(int64_t) + 1);
  }
  /// Few bits tell small numbers, and those at the ends of the type's range.
  void set(size_t row, uint64_t chosen) {
    constexpr uint64_t kSmall = 200;
    uint64_t value = chosen - kSmall / 2;
    if (chosen >= kSmall && chosen < 256) {
      value = ~uint64_t{0} << (8 * bytes_ - 1 - chosen % 2);  // the least number, and its half
      value += (chosen - kSmall) / 2;
      if (chosen % 3 == 0) value = ~value;
    }
    std::memcpy(at(row), &value, bytes_);  // the low bytes come first
  }
  IntegerColumn lent() const {
    return {reinterpret_cast<const char*>(memory_.data()), static_cast<std::ptrdiff_t>(stride_),
            size_, width_};
  }
  /// Below zero where the left row comes first.
  int compare(size_t left, size_t right) const {
    return with_values(lent(), [=](auto values) {
      return values[left] < values[right] ? -1 : values[left] > values[right] ? 1 : 0;
    });
  }

 private:
  static size_t bytes_of(Width width) { return size_t{1} << static_cast<unsigned>(width) % 4; }
  char* at(size_t row) { return reinterpret_cast<char*>(memory_.data()) + row * stride_; }

  size_t bytes_, stride_;
  Width width_;
  size_t size_;
  std::vector<int64_t> memory_;
};

struct Asked {
  std::vector<MadeColumn> columns;
  uint32_t descending = 0;    // a bit per column
  std::vector<int64_t> list;  // rows, where not all are asked for
  size_t size = 0;

  /// Below zero where the left row comes first, above where the right one does.
  int compare(const overlap_native::Rows& rows, int64_t left, int64_t right) const {
    for (size_t at = 0; at < columns.size(); ++at) {
      const int order =
          columns[at].compare(rows[static_cast<size_t>(left)], rows[static_cast<size_t>(right)]);
      if (order != 0) return (descending >> at & 1) != 0 ? -order : order;
    }
    return 0;
  }
};

/// Many rows, so that threads share the work.
size_t many_rows(Choices& choices) {
  constexpr size_t kFewest = (size_t{1} << 17) + 1;
  return kFewest + choices.word();
}

Asked asked_of(Choices& choices) {
  constexpr unsigned kMost = 4, kWidths = 8, kShort = 12;
  Asked asked;
  const uint8_t settings = choices.byte();
  const bool many = settings >= 0xfc && choices.rest().size() < kShort;
  const bool listed = (settings & 4) != 0;
  const unsigned count = many ? 1 : 1 + settings % kMost;
  asked.descending = choices.byte();
  const uint32_t widths = choices.word();
  const uint64_t spread = uint64_t{2} << choices.byte() % 32;
  const size_t rows = many ? many_rows(choices) : choices.rest().size() / count;
  for (unsigned at = 0; at < count; ++at) {
    const unsigned bits = widths >> 4 * at & 0xf;
    asked.columns.emplace_back(static_cast<Width>(bits % kWidths), bits >= kWidths, rows);
  }
  fuzz::Chance chance(choices.byte());
  for (size_t row = 0; row < rows; ++row) {
    for (MadeColumn& column : asked.columns) {
      column.set(row, many ? row / 8 + chance.below(spread) : choices.byte());
    }
  }
  for (size_t i = 0; listed && rows > 0 && i < rows + 3; ++i) {
    asked.list.push_back(static_cast<int64_t>(chance.below(rows)));
  }
  asked.size = listed ? asked.list.size() : rows;
  return asked;
}

void check_order(Choices& choices) {
  const Asked asked = asked_of(choices);
  const overlap_native::Rows rows{asked.list.empty() ? nullptr : asked.list.data(), asked.size};
  std::vector<KeyColumn> keys;
  for (size_t at = 0; at < asked.columns.size(); ++at) {
    keys.emplace_back(asked.columns[at].lent(), rows, (asked.descending >> at & 1) != 0);
  }
  const auto found = overlap_native::ordered(keys, asked.size, [] {});
  require(found.size() == asked.size, "each row has a place");
  std::vector<bool> met(asked.size);
  for (size_t i = 0; i < found.size(); ++i) {
    require(found[i] >= 0 && static_cast<size_t>(found[i]) < asked.size, "places are of rows");
    require(!met[static_cast<size_t>(found[i])], "each row comes once");
    met[static_cast<size_t>(found[i])] = true;
    if (i == 0) continue;
    const int order = asked.compare(rows, found[i - 1], found[i]);
    require(order < 0 || (order == 0 && found[i - 1] < found[i]), "rows are in their order");
  }
}

struct HostRows {
  std::vector<uint8_t> kind;
  std::vector<int32_t> process;
  std::vector<int64_t> thread, start, end;

  size_t size() const { return kind.size(); }
  bool same_lane(size_t left, size_t right) const {
    return kind[left] == kind[right] && process[left] == process[right] &&
           thread[left] == thread[right];
  }
};

/// Rows in the order of their starts, few lanes and small numbers.
HostRows host_rows_of(Choices& choices) {
  HostRows rows;
  int64_t now = 0;
  while (!choices.empty()) {
    const uint8_t where = choices.byte();
    rows.kind.push_back(where & 3);
    rows.process.push_back(where >> 2 & 1);
    rows.thread.push_back(where >> 3 & 1);
    now += where >> 4;
    rows.start.push_back(now);
    rows.end.push_back(now + choices.byte());
  }
  return rows;
}

/// How many rows of its lane are open where the row begins: each closes those that end by then, or
/// before itself.
int32_t plain_depth(const HostRows& rows, size_t row) {
  std::vector<int64_t> open;
  for (size_t before = 0; before <= row; ++before) {
    if (!rows.same_lane(before, row)) continue;
    while (!open.empty() && (open.back() <= rows.start[before] || open.back() < rows.end[before])) {
      open.pop_back();
    }
    if (before == row) break;
    open.push_back(rows.end[before]);
  }
  return static_cast<int32_t>(open.size());
}

void check_depths(Choices& choices) {
  const uint32_t kinds = choices.byte();
  const HostRows rows = host_rows_of(choices);
  std::vector<int32_t> depth(rows.size());
  overlap_native::nesting_depth({rows.kind.data(), rows.process.data(), rows.thread.data(),
                                 rows.start.data(), rows.end.data(), rows.size()},
                                kinds, depth.data());
  for (size_t row = 0; row < rows.size(); ++row) {
    const bool asked = (kinds >> rows.kind[row] & 1) != 0;
    require(depth[row] == (asked ? plain_depth(rows, row) : 0), "depths are those of a stack");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostRows = 1024;  // the plain depth takes the square of them
  Choices choices(data, std::min(size, 2 * kMostRows));
  choices.byte() % 4 == 0 ? check_depths(choices) : check_order(choices);
  return 0;
}
