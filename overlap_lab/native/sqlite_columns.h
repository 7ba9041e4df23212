// Rows of a SQLite statement, stepped into columns.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "column.h"
#include "number_codes.h"
#include "text_codes.h"

namespace overlap_native {

/// How the cells of a column are read. A cell that its column does not take ends the reading: what
/// it means is for another reader to judge.
enum class Cell {
  integer,  // integers, and NULL as kAbsent
  cast,     // what CAST(... AS INTEGER) makes of numbers, and NULL as kAbsent
  text,     // text, and NULL as kNoText
  coded,    // as integer, each distinct one once
};

/// Whether cells are kept as codes.
constexpr bool is_coded(Cell cell) { return cell == Cell::text || cell == Cell::coded; }

constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

struct SqlColumn {
  Cell cell;
  Column<int64_t> numbers;
  TextCodes texts;  // the codes also of coded numbers
  NumberCodes few;
};

struct SqlQuestion {
  std::string uri;
  std::string sql;
  std::vector<std::string> parameters;  // all text
};

/// Fills the columns, one for each of the statement's; false where that cannot be done: no library,
/// a damaged file, an odd cell. `interrupted` is asked every few milliseconds and may throw.
bool read_columns(const SqlQuestion& question, std::vector<SqlColumn>& columns,
                  const std::function<void()>& interrupted);

}  // namespace overlap_native
