#include "sqlite_table.h"

#include <algorithm>
#include <atomic>

#include "table_part.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kFewLeaves = 64;  // less than a thread is worth
constexpr size_t kRowsAtOnce = 1 << 18;

/// One part of the leaves for each thread.
struct Parts {
  std::vector<size_t> ends;  // leaves
  std::vector<size_t> rows;  // how many there are at most; empty where nothing tells
};

/// The number of cells of a leaf, and its first and last row; false for a page that is none.
bool look_at(const PageFile& file, uint32_t page, size_t& cells, int64_t& first, int64_t& last) {
  std::vector<uint8_t> bytes(file.page_size() + kPageSlack);
  PageHeader header{};
  if (!file.read(page, 1, bytes.data()) ||
      !PageHeader::of(bytes.data(), file.content_size(), header) || !header.leaf ||
      header.cells == 0) {
    return false;
  }
  cells = header.cells;
  for (int64_t* rowid : {&first, &last}) {
    const size_t cell =
        header.cell(bytes.data(), rowid == &first ? 0 : cells - 1, file.content_size());
    uint64_t size = 0, value = 0;
    if (cell == 0) return false;
    const size_t at = cell + varint(bytes.data() + cell, size);
    if (at > file.content_size()) return false;
    varint(bytes.data() + at, value);
    *rowid = static_cast<int64_t>(value);
  }
  return true;
}

/// How many rows each part has at most, from the numbers of rows; none where rows are far apart.
std::vector<size_t> most_rows(const PageFile& file, const Leaves& leaves,
                              const std::vector<size_t>& ends) {
  size_t cells = 0, most = 0;
  int64_t first = 0, last = 0, other = 0;
  for (const size_t at : {leaves.pages.size() / 2, leaves.pages.size() / 3, size_t{0}}) {
    if (!look_at(file, leaves.pages[at], cells, first, other)) return {};
    most = std::max(most, cells);
  }
  if (!look_at(file, leaves.pages.back(), cells, other, last) || last < first) return {};
  const uint64_t span = static_cast<uint64_t>(last) - static_cast<uint64_t>(first);
  if (span >= 2 * most * leaves.pages.size()) return {};
  std::vector<size_t> rows;
  uint64_t before = 0;
  for (const size_t end : ends) {
    const bool whole = end == leaves.pages.size();
    const int64_t until = whole ? last : leaves.last_rowids[end - 1];
    if (until < first || until > last) return {};
    const uint64_t reached = static_cast<uint64_t>(until) - static_cast<uint64_t>(first) + 1;
    if (reached < before) return {};
    rows.push_back(reached - before);
    before = reached;
  }
  return rows;
}

Parts parts_of(const PageFile& file, const TableQuestion& question, const Leaves& leaves) {
  Parts parts;
  const size_t size = leaves.pages.size();
  const size_t count = std::max<size_t>(std::min(thread_count(), size / kFewLeaves), 1);
  for (size_t part = 1; part <= count; ++part) parts.ends.push_back(size * part / count);
  if (question.all_of_any.empty()) parts.rows = most_rows(file, leaves, parts.ends);
  return parts;
}

void* hold(SqlColumn& column, size_t rows) {
  if (is_coded(column.cell)) {
    column.texts.codes.hold(rows);
    return column.texts.codes.data();
  }
  column.numbers.hold(rows);
  return column.numbers.data();
}

size_t width(Cell cell) { return is_coded(cell) ? sizeof(int32_t) : sizeof(int64_t); }

/// Gives each part its place in the columns of all.
void place(std::vector<TablePart>& parts, const std::vector<size_t>& rows,
           std::vector<SqlColumn>& columns) {
  size_t total = 0;
  for (const size_t each : rows) total += each;
  std::vector<void*> places;
  for (SqlColumn& column : columns) places.push_back(hold(column, total + 1));
  for (size_t part = 0; part < parts.size(); ++part) {
    parts[part].place(rows[part], places);
    for (size_t at = 0; at < columns.size(); ++at) {
      places[at] = static_cast<char*>(places[at]) + rows[part] * width(columns[at].cell);
    }
  }
}

/// Puts the rows of all parts behind each other.
template <class Value>
void join(const std::vector<const Value*>& parts, const std::vector<size_t>& rows,
          Column<Value>& all) {
  size_t size = 0;
  for (const size_t each : rows) size += each;
  all.hold(size + 1);
  size_t at = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (rows[part] != 0 && parts[part] != all.data() + at) {
      std::memmove(all.data() + at, parts[part], rows[part] * sizeof(Value));
    }
    at += rows[part];
  }
  all.set_size(size);
}

/// Gives codes of a part their numbers in the whole.
void renumber(int32_t* codes, size_t rows, const std::vector<int32_t>& renumbered) {
  bool same = true;
  for (size_t code = 0; code < renumbered.size(); ++code) {
    same = same && renumbered[code] == static_cast<int32_t>(code);
  }
  if (same) return;
  for_parts(rows, kRowsAtOnce, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      if (codes[row] >= 0) codes[row] = renumbered[static_cast<size_t>(codes[row])];
    }
  });
}

/// The numbers of a later part's codes in the whole.
std::vector<int32_t> renumbered(const PartColumn& part, SqlColumn& all) {
  std::vector<int32_t> codes;
  if (part.cell == Cell::text) {
    for (size_t code = 0; code < part.texts.texts.size(); ++code) {
      codes.push_back(all.texts.code_of(part.texts.texts[code]));
    }
  } else {
    for (size_t code = 0; code < part.few.values.size(); ++code) {
      codes.push_back(all.few.code_of(part.few.values[code]));
    }
  }
  return codes;
}

void join(std::vector<TablePart>& parts, size_t at, SqlColumn& column) {
  std::vector<size_t> rows;
  std::vector<const int64_t*> numbers;
  std::vector<const int32_t*> codes;
  column.few = std::move(parts[0].columns[at].few);
  column.texts.texts = std::move(parts[0].columns[at].texts.texts);
  for (size_t number = 0; number < parts.size(); ++number) {
    PartColumn& part = parts[number].columns[at];
    rows.push_back(parts[number].rows());
    numbers.push_back(part.numbers);
    codes.push_back(part.codes);
    if (number != 0 && is_coded(column.cell)) {
      renumber(part.codes, rows.back(), renumbered(part, column));
    }
  }
  if (is_coded(column.cell)) {
    join(codes, rows, column.texts.codes);
  } else {
    join(numbers, rows, column.numbers);
  }
}

/// The only part's own columns.
void take(TablePart& part, std::vector<SqlColumn>& columns) {
  for (size_t at = 0; at < columns.size(); ++at) {
    PartColumn& from = part.columns[at];
    from.own_numbers.set_size(is_coded(from.cell) ? 0 : part.rows());
    from.own_codes.set_size(is_coded(from.cell) ? part.rows() : 0);
    columns[at].numbers = std::move(from.own_numbers);
    columns[at].few = std::move(from.few);
    columns[at].texts.codes = std::move(from.own_codes);
    columns[at].texts.texts = std::move(from.texts.texts);
  }
}

}  // namespace

bool read_table(const TableQuestion& question, std::vector<SqlColumn>& columns,
                const std::function<void()>& interrupted) {
  const PageFile file(question.path);
  Leaves leaves;
  if (!find_leaves(file, question.root, leaves)) return false;
  const Parts plan = parts_of(file, question, leaves);
  std::vector<Cell> cells;
  for (const SqlColumn& column : columns) cells.push_back(column.cell);
  std::vector<TablePart> parts;
  parts.reserve(plan.ends.size());
  for (size_t part = 0; part < plan.ends.size(); ++part) parts.emplace_back(file, question, cells);
  if (!plan.rows.empty()) place(parts, plan.rows, columns);
  std::atomic<bool> failed{false};
  std::vector<Task> tasks;
  for (size_t number = 0; number < parts.size(); ++number) {
    const size_t begin = number == 0 ? 0 : plan.ends[number - 1];
    tasks.emplace_back([&, number, begin](const Stop& stop) {
      if (!parts[number].read(leaves, begin, plan.ends[number], stop, failed)) failed = true;
    });
  }
  if (leaves.pages.size() < kFewLeaves) {
    tasks[0](Stop());
  } else {
    run_tasks(tasks, interrupted);
  }
  if (failed) return false;
  if (plan.rows.empty() && parts.size() == 1) {
    take(parts[0], columns);
    return true;
  }
  for (size_t at = 0; at < columns.size(); ++at) join(parts, at, columns[at]);
  return true;
}

}  // namespace overlap_native
