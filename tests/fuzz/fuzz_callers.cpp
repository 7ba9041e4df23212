// The calls that device rows are linked to, held to a loop over all calls.
#include <numeric>
#include <tuple>
#include <vector>

#include "callers.h"
#include "law.h"

namespace {

using fuzz::Choices;
using fuzz::require;

constexpr uint8_t kCall = 1;
constexpr int32_t kAbsent = -1;

struct Table {
  std::vector<uint8_t> kind;
  std::vector<uint64_t> correlation;
  std::vector<int16_t> part;
  std::vector<int32_t> process;
  std::vector<int64_t> start_ns;
  std::vector<uint32_t> added;
  bool has_added = false;

  size_t size() const { return kind.size(); }
  overlap_native::LinkedRows lent() const {
    return {kind.data(),
            correlation.data(),
            {reinterpret_cast<const char*>(part.data()), sizeof(int16_t), size(),
             overlap_native::Width::i16},
            process.data(),
            start_ns.data(),
            size(),
            has_added ? added.data() : nullptr};
  }
};

/// Few ids, near each other or far apart, and few processes, one of which may be unknown.
Table table_of(Choices& choices) {
  constexpr size_t kMost = 200;  // a loop over all takes the square of it
  Table table;
  const uint8_t settings = choices.byte();
  const uint64_t scale = (settings & 1) != 0 ? uint64_t{1} << 61 : 1;
  fuzz::Chance chance(settings);
  while (!choices.empty() && table.size() < kMost) {
    const uint8_t what = choices.byte(), where = choices.byte();
    table.kind.push_back(what & 3);
    table.correlation.push_back((what >> 2 & 7) * scale);
    table.part.push_back(static_cast<int16_t>((what >> 5 & 1) - 1));
    const int32_t process = (where & 3) == 3 && (settings & 2) != 0 ? kAbsent : 40 + (where & 1);
    table.process.push_back(process);
    table.start_ns.push_back((where >> 3) - 9);
  }
  table.added.resize(table.size());
  std::iota(table.added.begin(), table.added.end(), 0);
  table.has_added = (settings & 4) != 0;
  for (size_t row = table.size(); table.has_added && row > 1; --row) {
    std::swap(table.added[row - 1], table.added[chance.below(row)]);
  }
  return table;
}

bool is_call(const Table& table, size_t row) {
  return table.kind[row] == kCall && table.correlation[row] != 0;
}

/// Whether the processes of all calls, and of rows with an id, are known.
bool all_known(const Table& table) {
  for (size_t row = 0; row < table.size(); ++row) {
    const bool counts = is_call(table, row) || (table.kind[row] != kCall && table.correlation[row]);
    if (counts && table.process[row] == kAbsent) return false;
  }
  return true;
}

int64_t plain_caller(const Table& table, size_t row, bool by_process) {
  const auto key = [&](size_t at) {
    return std::make_tuple(table.start_ns[at], table.has_added ? table.added[at] : at);
  };
  int64_t before = -1, first = -1;
  for (size_t call = 0; call < table.size(); ++call) {
    if (!is_call(table, call) || table.correlation[call] != table.correlation[row]) continue;
    if (table.part[call] != table.part[row]) continue;
    if (by_process && table.process[call] != table.process[row]) continue;
    const auto at = static_cast<int64_t>(call);
    if (first < 0 || key(call) < key(static_cast<size_t>(first))) first = at;
    if (table.start_ns[call] > table.start_ns[row]) continue;
    if (before < 0 || key(call) > key(static_cast<size_t>(before))) before = at;
  }
  return before >= 0 ? before : first;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  const Table table = table_of(choices);
  std::vector<int64_t> wanted;
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.kind[row] != kCall) wanted.push_back(static_cast<int64_t>(row));
  }
  const auto found =
      overlap_native::callers_of(table.lent(), {kCall, kAbsent}, wanted.data(), wanted.size());
  require(found.size() == wanted.size(), "each row has an answer");
  const bool by_process = all_known(table);
  for (size_t at = 0; at < wanted.size(); ++at) {
    const auto row = static_cast<size_t>(wanted[at]);
    const int64_t plain = table.correlation[row] == 0 ? -1 : plain_caller(table, row, by_process);
    require(found[at] == plain, "a row is linked to the last call of its id before it");
  }
  return 0;
}
