// A table of an SQLite file decoded from its pages into columns, on as many threads as there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sqlite_columns.h"
#include "sqlite_records.h"

namespace overlap_native {

/// A column whose text must be one of these.
struct TextCondition {
  StoredColumn column;
  std::vector<std::string> texts;
};

struct TableQuestion {
  std::string path;
  uint32_t root;                                       // page of the table's tree
  std::vector<StoredColumn> columns;                   // one for each of those to be filled
  std::vector<std::vector<TextCondition>> all_of_any;  // which rows are wanted
};

/// Fills the columns in the order of rows; false where SQLite itself must read the table: it is not
/// kept as usual, is damaged, or has an odd cell. `interrupted` is asked every few milliseconds and
/// may throw.
bool read_table(const TableQuestion& question, std::vector<SqlColumn>& columns,
                const std::function<void()>& interrupted);

}  // namespace overlap_native
