#include "table_part.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace overlap_native {

namespace {

constexpr size_t kBytesAtOnce = 256 * 1024;

std::vector<StoredColumn> wanted_columns(const TableQuestion& question) {
  std::vector<StoredColumn> all = question.columns;
  for (const auto& any : question.all_of_any) {
    for (const TextCondition& condition : any) all.push_back(condition.column);
  }
  return all;
}

bool is_absent(Stored type, bool has_default) {
  return type == Stored::null || (type == Stored::missing && !has_default);
}

/// As SQLite casts.
int64_t integer_of(double real) {
  constexpr double kTooLarge = 9223372036854775808.0;
  if (real <= -kTooLarge) return std::numeric_limits<int64_t>::min();
  if (real >= kTooLarge) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(real);
}

}  // namespace

TablePart::TablePart(const PageFile& file, const TableQuestion& question,
                     const std::vector<Cell>& cells)
    : file_(file), question_(question), record_(file, wanted_columns(question)) {
  for (const Cell cell : cells) columns.push_back({cell, nullptr, nullptr, {}, {}, {}, {}});
}

void TablePart::place(size_t rows, const std::vector<void*>& places) {
  for (size_t at = 0; at < columns.size(); ++at) {
    columns[at].numbers = static_cast<int64_t*>(places[at]);
    columns[at].codes = static_cast<int32_t*>(places[at]);
  }
  capacity_ = rows;
  placed_ = true;
}

bool TablePart::read(const Leaves& leaves, size_t begin, size_t end, const Stop& stop,
                     const std::atomic<bool>& failed) {
  const size_t most = std::max<size_t>(kBytesAtOnce / file_.page_size(), 1);
  pages_.resize(most * file_.page_size() + kPageSlack);
  while (begin < end) {
    if (stop.asked() || failed) return false;
    size_t count = 1;  // pages that follow each other in the file too
    while (begin + count < end && count < most &&
           leaves.pages[begin + count] == leaves.pages[begin] + count) {
      ++count;
    }
    if (!file_.read(leaves.pages[begin], count, pages_.data())) return false;
    for (size_t page = 0; page < count; ++page) {
      if (!read_page(pages_.data() + page * file_.page_size(), leaves.pages.size() == 1)) {
        return false;
      }
    }
    begin += count;
  }
  return true;
}

bool TablePart::read_page(const uint8_t* page, bool only) {
  PageHeader header{};
  if (!PageHeader::of(page, file_.content_size(), header) || !header.leaf || !room(header.cells)) {
    return false;
  }
  if (header.cells == 0 && !only) return false;  // only an empty table has such a page
  for (size_t number = 0; number < header.cells; ++number) {
    const size_t cell = header.cell(page, number, file_.content_size());
    if (cell == 0 || !record_.open(page, cell)) return false;
    bool known = true;
    if (wanted(known) && !add_row()) return false;
    if (!known) return false;
  }
  return true;
}

bool TablePart::room(size_t more) {
  if (rows_ + more <= capacity_) return true;
  if (placed_) return false;
  capacity_ = std::max<size_t>(2 * capacity_, rows_ + more + 1024);
  for (PartColumn& column : columns) {
    if (is_coded(column.cell)) {
      column.own_codes.hold(capacity_);
      column.codes = column.own_codes.data();
    } else {
      column.own_numbers.hold(capacity_);
      column.numbers = column.own_numbers.data();
    }
  }
  return true;
}

bool TablePart::wanted(bool& known) const {
  size_t at = columns.size();
  for (const auto& any : question_.all_of_any) {
    bool found = false;
    for (const TextCondition& condition : any) {
      const size_t column = at++;
      const Stored type = record_.type(column);
      if (type == Stored::missing && condition.column.has_default) known = false;
      if (found || type != Stored::text) continue;
      const std::string_view text = record_.bytes(column);
      found =
          std::find(condition.texts.begin(), condition.texts.end(), text) != condition.texts.end();
    }
    if (!found) return false;
  }
  return true;
}

bool TablePart::add_row() {
  for (size_t at = 0; at < columns.size(); ++at) {
    if (!add_cell(at, columns[at])) return false;
  }
  ++rows_;
  return true;
}

bool TablePart::add_cell(size_t at, PartColumn& column) {
  const Stored type = record_.type(at);
  int64_t number = kAbsent;
  const bool none = is_absent(type, question_.columns[at].has_default);
  if (column.cell == Cell::text) {
    if (!none && type != Stored::text) return false;
    column.codes[rows_] = none ? kNoText : column.texts.code_of(record_.bytes(at));
    return true;
  }
  if (!none && !record_.number(at, number)) {
    if (column.cell != Cell::cast || type != Stored::real) return false;
    const double real = record_.real(at);
    if (!std::isnan(real)) number = integer_of(real);  // which SQLite has as NULL
  }
  if (!none && number == kAbsent && column.cell != Cell::cast) return false;
  if (column.cell == Cell::coded) {
    column.codes[rows_] = column.few.code_of(number);
  } else {
    column.numbers[rows_] = number;
  }
  return true;
}

}  // namespace overlap_native
