// Some leaf pages of an SQLite table as columns: what one thread reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "number_codes.h"
#include "sqlite_columns.h"
#include "sqlite_pages.h"
#include "sqlite_records.h"
#include "sqlite_table.h"
#include "text_codes.h"
#include "threads.h"

namespace overlap_native {

/// Where the cells of one column go.
struct PartColumn {
  Cell cell;
  int64_t* numbers;  // of the part's first row; of numbers as they are
  int32_t* codes;    // of texts and of coded numbers
  TextCodes texts;
  NumberCodes few;
  Column<int64_t> own_numbers;  // memory of parts whose place among all rows is not known before
  Column<int32_t> own_codes;
};

class TablePart {
 public:
  TablePart(const PageFile& file, const TableQuestion& question, const std::vector<Cell>& cells);

  /// Gives room for `rows` rows in columns that others own, one pointer each.
  void place(size_t rows, const std::vector<void*>& columns);
  /// Reads the leaves from `begin` to `end`; false for one that is not as it should be.
  bool read(const Leaves& leaves, size_t begin, size_t end, const Stop& stop,
            const std::atomic<bool>& failed);

  size_t rows() const { return rows_; }
  std::vector<PartColumn> columns;

 private:
  bool read_page(const uint8_t* page, bool only);
  bool room(size_t more);
  bool wanted(bool& known) const;
  bool add_row();
  bool add_cell(size_t at, PartColumn& column);

  const PageFile& file_;
  const TableQuestion& question_;
  Record record_;
  std::vector<uint8_t> pages_;
  size_t rows_ = 0;
  size_t capacity_ = 0;
  bool placed_ = false;
};

}  // namespace overlap_native
