// SQLite: the columns of a database, damaged or not, equal those of SQLite stepped row by row.
#include <algorithm>
#include <string>
#include <vector>

#include "law.h"
#include "memory_file.h"
#include "sqlite_columns.h"
#include "sqlite_library.h"
#include "sqlite_table.h"

namespace {

using fuzz::require;
using overlap_native::Cell;
using overlap_native::SqlColumn;
using overlap_native::SqliteLibrary;

constexpr Cell kInteger = Cell::integer, kCast = Cell::cast, kText = Cell::text,
               kCoded = Cell::coded;

struct Query {
  const char* sql;
  std::vector<Cell> cells;
};

const std::vector<Query>& queries() {
  static const std::vector<Query> all = {
      {"SELECT a, b, c FROM t", {kInteger, kCoded, kText}},
      {"SELECT a, CAST(b AS INTEGER), c FROM t", {kCast, kCast, kText}},
      {"SELECT c, a, b FROM t WHERE a > 3 ORDER BY c", {kText, kInteger, kCast}},
      {"SELECT rowid, c FROM t WHERE c = 'x'", {kInteger, kText}},
      {"SELECT count(*) FROM t", {kInteger}},
      {"SELECT t.a, s.string FROM t LEFT JOIN s ON s.id = t.b", {kInteger, kText}},
      {"SELECT name, sql FROM sqlite_master", {kText, kText}},
      {"SELECT a, b FROM t WHERE c IS NOT NULL", {kInteger, kText, kText}},
  };
  return all;
}

/// A table that may be decoded from its pages, and how SQLite is asked for the same.
struct Decoded {
  const char* schema;
  std::vector<overlap_native::StoredColumn> stored;
  Query all, some;
};

const std::vector<Decoded>& decoded_tables() {
  using overlap_native::kRowid;
  static const std::vector<Decoded> all = {
      {"CREATE TABLE t (a INTEGER, b INTEGER, c TEXT)",
       {{0, false}, {1, false}, {2, false}, {kRowid, false}},
       {"SELECT a, b, c, rowid FROM t", {kInteger, kCoded, kText, kInteger}},
       {"SELECT a, b, c, rowid FROM t WHERE +c IN ('x', 'y')", {kCoded, kCast, kText, kInteger}}},
      {"CREATE TABLE t (a, b, c)",
       {{1, false}, {2, false}},
       {"SELECT b, c FROM t", {kCast, kText}},
       {"SELECT b, c FROM t WHERE +c IN ('x', 'y')", {kInteger, kText}}},
      {"CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER, c TEXT)",
       {{kRowid, false}, {2, false}, {1, false}},
       {"SELECT a, c, b FROM t", {kInteger, kText, kCoded}},
       {"SELECT a, c, b FROM t WHERE +c IN ('x', 'y')", {kInteger, kText, kCast}}},
      {"CREATE TABLE t (a INTEGER, b INTEGER, c TEXT, d INTEGER, e TEXT DEFAULT 'y')",
       {{3, false}, {4, true}, {0, false}},
       {"SELECT d, e, a FROM t", {kInteger, kText, kInteger}},
       {"SELECT d, e, a FROM t WHERE +c IN ('x', 'y')", {kCoded, kText, kCast}}},
  };
  return all;
}

/// The cells of all rows as SQLite gives them, NULL as nothing; no value where a step fails.
class Steps {
 public:
  Steps(const SqliteLibrary& library, const std::string& uri, const Query& query)
      : library_(library) {
    constexpr int kFlags = overlap_native::kOpenReadOnly | overlap_native::kOpenUri;
    if (library.open_v2(uri.c_str(), &connection_, kFlags, nullptr) != overlap_native::kSqliteOk) {
      return;
    }
    library.prepare_v2(connection_, query.sql, -1, &row_, nullptr);
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() {
    library_.finalize(row_);
    library_.close(connection_);
  }
  bool next() {
    outcome_ = row_ == nullptr ? -1 : library_.step(row_);
    return outcome_ == overlap_native::kSqliteRow;
  }
  bool done() const { return outcome_ == overlap_native::kSqliteDone; }
  int width() const { return row_ == nullptr ? -1 : library_.column_count(row_); }
  int type(int at) const { return library_.column_type(row_, at); }
  int64_t number(int at) const { return library_.column_int64(row_, at); }
  std::string text(int at) const {
    const auto* found = reinterpret_cast<const char*>(library_.column_text(row_, at));
    return {found, static_cast<size_t>(library_.column_bytes(row_, at))};
  }

 private:
  const SqliteLibrary& library_;
  overlap_native::Connection* connection_ = nullptr;
  overlap_native::Statement* row_ = nullptr;
  int outcome_ = -1;
};

/// Whether a cell is one that its column takes.
bool takes(const Steps& steps, int at, Cell cell) {
  const int type = steps.type(at);
  if (type == overlap_native::kSqliteNull) return true;
  if (cell == Cell::text) return type == overlap_native::kSqliteText;
  if (cell == Cell::cast && type == overlap_native::kSqliteFloat) return true;
  if (type != overlap_native::kSqliteInteger) return false;
  return cell == Cell::cast || steps.number(at) != overlap_native::kAbsent;
}

bool same_cell(const Steps& steps, int at, const SqlColumn& column, size_t row) {
  const bool null = steps.type(at) == overlap_native::kSqliteNull;
  const int64_t plain = null ? overlap_native::kAbsent : steps.number(at);
  if (column.cell == Cell::text) {
    const int32_t code = column.texts.codes[row];
    if (null || code == overlap_native::kNoText) return null && code == overlap_native::kNoText;
    return column.texts.texts[static_cast<size_t>(code)] == steps.text(at);
  }
  if (column.cell == Cell::coded) {
    return column.few.values[static_cast<size_t>(column.texts.codes[row])] == plain;
  }
  return column.numbers[row] == plain;
}

size_t size_of(const SqlColumn& column) {
  return is_coded(column.cell) ? column.texts.codes.size() : column.numbers.size();
}

std::vector<SqlColumn> made(const std::vector<Cell>& cells) {
  std::vector<SqlColumn> columns;
  for (const Cell cell : cells) columns.push_back({cell, {}, {}, {}});
  return columns;
}

/// Whether the columns that were `read` are SQLite's own rows; where they were not, whether SQLite
/// has no answer, or one with a cell that its column does not take.
bool same_answer(Steps& steps, const std::vector<SqlColumn>& columns, bool read) {
  bool taken = steps.width() == static_cast<int>(columns.size());
  size_t row = 0;
  for (; taken && steps.next(); ++row) {
    for (int at = 0; taken && at < steps.width(); ++at) {
      const SqlColumn& column = columns[static_cast<size_t>(at)];
      taken = takes(steps, at, column.cell);
      if (!taken || !read) continue;
      if (row >= size_of(column) || !same_cell(steps, at, column, row)) return false;
    }
  }
  if (read != (taken && steps.done())) return false;
  const auto whole = [row](const SqlColumn& column) { return size_of(column) == row; };
  return !read || std::all_of(columns.begin(), columns.end(), whole);
}

/// Tries three times: of some damaged files SQLite says one thing now and another then.
template <class Read>
void check(const SqliteLibrary& library, const std::string& uri, const Query& query,
           const Read& read_into, bool refusable) {
  constexpr int kTries = 3;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<SqlColumn> columns = made(query.cells);
    const bool read = read_into(columns);
    if (!read && refusable) return;
    Steps steps(library, uri, query);
    if (same_answer(steps, columns, read)) return;
  }
  require(false, "columns are SQLite's rows, and a damaged answer is none");
}

void check_steps(const SqliteLibrary& library, const std::string& uri, const Query& query) {
  const auto read = [&](std::vector<SqlColumn>& columns) {
    return overlap_native::read_columns({uri, query.sql, {}}, columns, [] {});
  };
  check(library, uri, query, read, /*refusable=*/false);
}

/// The table's place in the file, and which one it is; nullptr where it is none of those known.
const Decoded* known_table(const std::string& uri, uint32_t& root) {
  const char* sql = "SELECT sql, rootpage FROM sqlite_master WHERE name = 't' AND type = 'table'";
  std::vector<SqlColumn> schema = made({kText, kInteger});
  if (!overlap_native::read_columns({uri, sql, {}}, schema, [] {})) return nullptr;
  if (schema[1].numbers.size() != 1 || schema[0].texts.texts.size() != 1) return nullptr;
  root = static_cast<uint32_t>(schema[1].numbers[0]);
  for (const Decoded& table : decoded_tables()) {
    if (schema[0].texts.texts[0] == table.schema) return &table;
  }
  return nullptr;
}

void check_pages(const SqliteLibrary& library, const std::string& uri, const std::string& path,
                 bool some) {
  overlap_native::TableQuestion question{path, 0, {}, {}};
  const Decoded* table = known_table(uri, question.root);
  if (table == nullptr) return;
  const Query& query = some ? table->some : table->all;
  for (size_t at = 0; at < query.cells.size(); ++at) question.columns.push_back(table->stored[at]);
  constexpr int kPlaceOfC = 2;
  if (some) question.all_of_any = {{{{kPlaceOfC, false}, {"x", "y"}}}};
  const auto read = [&](std::vector<SqlColumn>& columns) {
    return overlap_native::read_table(question, columns, [] {});
  };
  check(library, uri, query, read, /*refusable=*/true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const SqliteLibrary* library = overlap_native::sqlite_library();
  require(library != nullptr, "this machine has SQLite");
  fuzz::Choices choices(data, size);
  const uint8_t choice = choices.byte();
  static const fuzz::MemoryFile file;
  file.write(choices.rest(), "");
  const std::string uri = "file:" + file.path() + "?mode=ro&immutable=1";
  if (choice % 4 == 0) {
    check_steps(*library, uri, queries()[choice / 4 % queries().size()]);
  } else {
    check_pages(*library, uri, file.path(), choice % 4 == 1);
  }
  return 0;
}
