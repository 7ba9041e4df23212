#include "sqlite_columns.h"

#include <chrono>
#include <exception>

#include "progress.h"
#include "sqlite_library.h"

namespace overlap_native {

namespace {

constexpr int kStepsBetweenLooks = 20000;  // of SQLite's machine, so a long search is seen too
constexpr size_t kRowsCounted = 4096;      // at once
constexpr auto kBetweenAsks = std::chrono::milliseconds(30);

/// Stands between SQLite, which knows no exceptions, and the caller's wish to stop.
class Watch {
 public:
  explicit Watch(const std::function<void()>& interrupted) : interrupted_(interrupted) {}
  /// For SQLite: whether to stop.
  static int look(void* self) { return static_cast<Watch*>(self)->stops() ? 1 : 0; }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  bool stops() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kBetweenAsks) return false;
    asked_ = now;
    try {
      interrupted_();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    return thrown_ != nullptr;
  }

  const std::function<void()>& interrupted_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::exception_ptr thrown_;
};

/// One statement of one connection, both closed with it.
class Query {
 public:
  Query(const SqliteLibrary& library, const SqlQuestion& question, Watch& watch)
      : library_(library) {
    constexpr int kFlags = kOpenReadOnly | kOpenUri | kOpenNoMutex;
    open_ = library.open_v2(question.uri.c_str(), &connection_, kFlags, nullptr) == kSqliteOk;
    if (!open_) return;
    library.progress_handler(connection_, kStepsBetweenLooks, &Watch::look, &watch);
    open_ =
        library.prepare_v2(connection_, question.sql.data(), static_cast<int>(question.sql.size()),
                           &statement_, nullptr) == kSqliteOk &&
        statement_ != nullptr;
    int place = 0;
    for (const std::string& text : question.parameters) {
      // Not copied: the question outlives the statement.
      open_ = open_ && library.bind_text(statement_, ++place, text.data(),
                                         static_cast<int>(text.size()), nullptr) == kSqliteOk;
    }
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    library_.finalize(statement_);
    library_.close(connection_);
  }
  Statement* statement() const { return open_ ? statement_ : nullptr; }

 private:
  const SqliteLibrary& library_;
  Connection* connection_ = nullptr;
  Statement* statement_ = nullptr;
  bool open_ = false;
};

bool add_number(const SqliteLibrary& library, Statement* row, int at, SqlColumn& column) {
  const int type = library.column_type(row, at);
  const bool none = type == kSqliteNull, cast = column.cell == Cell::cast;
  if (!none && type != kSqliteInteger && !(cast && type == kSqliteFloat)) return false;
  const int64_t value = none ? kAbsent : library.column_int64(row, at);
  if (column.cell == Cell::coded) {
    column.texts.codes.push(column.few.code_of(value));
  } else {
    column.numbers.push(value);
  }
  return none || cast || value != kAbsent;
}

bool add_text(const SqliteLibrary& library, Statement* row, int at, SqlColumn& column) {
  const int type = library.column_type(row, at);
  if (type == kSqliteNull) {
    column.texts.push_none();
    return true;
  }
  if (type != kSqliteText) return false;
  const auto* text = reinterpret_cast<const char*>(library.column_text(row, at));
  if (text == nullptr) return false;  // no memory for it
  column.texts.push({text, static_cast<size_t>(library.column_bytes(row, at))});
  return true;
}

bool add_row(const SqliteLibrary& library, Statement* row, std::vector<SqlColumn>& columns) {
  int at = 0;
  for (SqlColumn& column : columns) {
    const bool added = column.cell == Cell::text ? add_text(library, row, at, column)
                                                 : add_number(library, row, at, column);
    if (!added) return false;
    ++at;
  }
  return true;
}

}  // namespace

bool read_columns(const SqlQuestion& question, std::vector<SqlColumn>& columns,
                  const std::function<void()>& interrupted) {
  const SqliteLibrary* library = sqlite_library();
  if (library == nullptr) return false;
  Watch watch(interrupted);
  const Query query(*library, question, watch);
  Statement* row = query.statement();
  if (row == nullptr || library->column_count(row) != static_cast<int>(columns.size())) {
    watch.rethrow();
    return false;
  }
  int outcome = library->step(row);
  size_t rows = 0;
  while (outcome == kSqliteRow && add_row(*library, row, columns)) {
    if (++rows % kRowsCounted == 0) progress().add_rows(kRowsCounted);
    outcome = library->step(row);
  }
  watch.rethrow();
  return outcome == kSqliteDone;
}

}  // namespace overlap_native
