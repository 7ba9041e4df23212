// Questions about columns of a trace, held to loops over all rows.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "alike_rows.h"
#include "codes.h"
#include "enclosing.h"
#include "gather.h"
#include "grouping.h"
#include "law.h"
#include "lookup.h"
#include "pairing.h"

namespace {

using fuzz::Choices;
using fuzz::require;
using overlap_native::Column;
using overlap_native::IntegerColumn;
using overlap_native::Width;

struct Table {
  std::vector<uint8_t> kind;
  std::vector<int16_t> key;
  std::vector<int32_t> code;  // from -1 on
  std::vector<int64_t> thread, start, end;

  size_t size() const { return kind.size(); }
};

/// Few distinct values each, in the order of the starts.
Table table_of(Choices& choices, size_t most) {
  Table table;
  int64_t now = -20;
  while (!choices.empty() && table.size() < most) {
    const uint8_t what = choices.byte();
    table.kind.push_back(what & 7);
    table.code.push_back((what >> 3 & 3) - 1);
    table.thread.push_back(what >> 5 & 1);
    const uint8_t when = choices.byte();
    now += when & 7;
    table.start.push_back(now);
    table.end.push_back(now + (when >> 3));
    table.key.push_back(static_cast<int16_t>(choices.byte() % 5 - 2));
  }
  return table;
}

template <class Value>
IntegerColumn lent(const std::vector<Value>& values, Width width) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(Value), values.size(), width};
}

/// Few numbers out of a large range.
void check_wide_codes(const Table& table) {
  std::vector<int64_t> wide, plain;
  for (const int64_t start : table.start) wide.push_back(start * (int64_t{1} << 40));
  const auto found =
      overlap_native::dense_codes({lent(wide, Width::i64)}, {nullptr, wide.size()}, [] {});
  plain = wide;
  std::sort(plain.begin(), plain.end());
  plain.erase(std::unique(plain.begin(), plain.end()), plain.end());
  for (size_t row = 0; row < wide.size(); ++row) {
    require(plain[static_cast<size_t>(found[row])] == wide[row], "codes are ranks");
  }
}

void check_codes(const Table& table) {
  const auto found = overlap_native::dense_codes(
      {lent(table.key, Width::i16), lent(table.kind, Width::u8)}, {nullptr, table.size()}, [] {});
  std::map<std::pair<int16_t, uint8_t>, int64_t> plain;
  for (size_t row = 0; row < table.size(); ++row) plain[{table.key[row], table.kind[row]}] = 0;
  int64_t next = 0;
  for (auto& entry : plain) entry.second = next++;
  for (size_t row = 0; row < table.size(); ++row) {
    require(found[row] == plain[std::make_pair(table.key[row], table.kind[row])],
            "codes are the ranks of distinct rows");
  }
}

void check_members(const Table& table, uint64_t members) {
  std::vector<int64_t> plain;
  Column<bool> found;
  found.hold(table.size() + 1);
  overlap_native::are_members(lent(table.key, Width::i16), members, found.data());
  for (size_t row = 0; row < table.size(); ++row) {
    const int16_t key = table.key[row];
    const bool member = key >= 0 && (members >> key & 1) != 0;
    require(found.data()[row] == member, "members are those of the bits");
    if (member) plain.push_back(static_cast<int64_t>(row));
  }
  const auto rows = overlap_native::rows_among(lent(table.key, Width::i16), members);
  require(rows.size() == plain.size() && std::equal(plain.begin(), plain.end(), rows.data()),
          "the rows of members are all of them, in order");
}

void check_folds(const Table& table) {
  using overlap_native::Fold;
  constexpr size_t kGroups = 3;
  for (const Fold fold : {Fold::sum, Fold::least, Fold::most}) {
    std::vector<int64_t> found(kGroups, 1), plain(kGroups, 1);
    overlap_native::fold_groups(table.thread.data(), table.end.data(), table.size(), fold,
                                found.data());
    for (size_t row = 0; row < table.size(); ++row) {
      int64_t& total = plain[static_cast<size_t>(table.thread[row])];
      const int64_t value = table.end[row];
      total = fold == Fold::sum     ? total + value
              : fold == Fold::least ? std::min(total, value)
                                    : std::max(total, value);
    }
    require(found == plain, "groups are folded");
  }
}

/// Kinds below 4 are calls.
void check_pairs(const Table& table) {
  std::vector<int64_t> rows, ops;
  for (size_t row = 0; row < table.size(); ++row) {
    (table.kind[row] < 4 ? rows : ops).push_back(static_cast<int64_t>(row));
  }
  if (table.key.size() % 2 == 1) std::reverse(rows.begin(), rows.end());
  const size_t calls = rows.size();
  rows.insert(rows.end(), ops.begin(), ops.end());
  const auto found = overlap_native::calls_of_ops(
      {{lent(table.key, Width::i16)}, table.start.data(), {rows.data(), rows.size()}, calls},
      [] {});
  const auto start = [&](int64_t row) { return table.start[static_cast<size_t>(row)]; };
  for (size_t op = 0; op < ops.size(); ++op) {
    const auto key = table.key[static_cast<size_t>(ops[op])];
    const auto same = [&](int64_t row) { return table.key[static_cast<size_t>(row)] == key; };
    const bool any = std::any_of(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(calls), same);
    require(any == (found[op] >= 0), "an op has a call where one has its key");
    if (!any) continue;
    require(same(found[op]), "a call has the key of its op");
    for (size_t call = 0; call < calls; ++call) {
      if (!same(rows[call])) continue;
      const bool before = start(rows[call]) < start(ops[op]);
      require(!before || start(rows[call]) <= start(found[op]), "no call is later");
      require(before || start(found[op]) < start(ops[op]) || start(found[op]) <= start(rows[call]),
              "where none is before, it is the first");
    }
  }
}

void check_around(const Table& table, const Table& moments) {
  const std::vector<int32_t> threads(table.thread.begin(), table.thread.end());
  const auto found = overlap_native::innermost_rows(
      {lent(table.kind, Width::u8), threads.data(), table.start.data(), table.end.data(),
       table.size()},
      1, {moments.thread.data(), moments.start.data(), moments.end.data(), moments.size()});
  for (size_t at = 0; at < moments.size(); ++at) {
    int64_t plain = -1;
    for (size_t row = 0; row < table.size(); ++row) {
      const bool around = table.kind[row] == 1 && table.thread[row] == moments.thread[at] &&
                          table.start[row] <= moments.start[at] &&
                          table.end[row] >= moments.end[at];
      if (around) plain = static_cast<int64_t>(row);
    }
    require(found[at] == plain, "the innermost row around is the last one that is");
  }
}

void check_time_order(Table table, uint64_t shuffled) {
  fuzz::Chance chance(shuffled);
  for (size_t row = table.size(); row > 1; --row) {
    std::swap(table.start[row - 1], table.start[chance.below(row)]);
  }
  overlap_native::TimedRows rows{table.start.data(), table.end.data(), table.kind.data(), {}};
  for (size_t kind = 0; kind < rows.rank.size(); ++kind) rows.rank[kind] = kind * 5 % 8;
  std::vector<int64_t> by_start(table.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(), [&](int64_t left, int64_t right) {
    return table.start[static_cast<size_t>(left)] < table.start[static_cast<size_t>(right)];
  });
  const auto order = overlap_native::time_order(rows, by_start.data(), table.size());
  const auto key = [&](uint32_t row) {
    return std::make_tuple(table.start[row], -table.end[row], rows.rank[table.kind[row]], row);
  };
  for (size_t i = 1; i < order.size(); ++i) {
    require(key(order[i - 1]) < key(order[i]), "rows are in the order of their times");
  }
  const auto places = overlap_native::places_of(order.data(), order.size());
  for (size_t i = 0; i < order.size(); ++i) require(places[order[i]] == i, "places undo an order");
}

void check_alike(const Table& table, uint64_t count) {
  std::vector<int32_t> kinds(table.kind.begin(), table.kind.end());
  const auto found = overlap_native::alike_rows(
      {{table.code.data(), 4 + (count << 20)}, {kinds.data(), 8}}, table.size());
  std::map<std::pair<int32_t, int32_t>, int32_t> plain;
  for (size_t row = 0; row < table.size(); ++row) {
    const auto next = static_cast<int32_t>(plain.size());
    const auto [at, added] = plain.emplace(std::make_pair(table.code[row], kinds[row]), next);
    require(found.place[row] == at->second, "rows that are alike have one place");
    if (!added) continue;
    require(found.first[static_cast<size_t>(next)] == static_cast<int64_t>(row),
            "the first is known");
  }
  require(found.first.size() == plain.size(), "each distinct row is there once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 300;  // loops over all take the square of it
  Choices choices(data, size);
  const uint32_t settings = choices.word();
  const Table moments = table_of(choices, settings % 64);
  const Table table = table_of(choices, kMost);
  check_codes(table);
  check_wide_codes(table);
  check_members(table, settings);
  check_folds(table);
  check_pairs(table);
  check_around(table, moments);
  check_time_order(table, settings);
  check_alike(table, settings & 1);
  return 0;
}
