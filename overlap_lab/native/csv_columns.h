// Rows of CSV text into columns, parted as Python's `csv` module parts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "column.h"
#include "text_codes.h"

namespace overlap_native {

/// How the fields of a column are read.
enum class Field {
  skipped,
  integer,  // decimal digits that fit 63 bits; the odd texts are kept beside the column
  time,     // the same; a row without one is left out
  text,
};

struct CsvColumn {
  Field field;
  Column<int64_t> numbers;    // 0 where the text is odd
  TextCodes texts;            // all texts of a text column, the odd ones of an integer column
  Column<uint32_t> odd_rows;  // of an integer column
};

/// One record after the other. Fields lie in the text, or in `unquoted` where quotes were inside.
class CsvRecords {
 public:
  explicit CsvRecords(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}
  /// Reads the next record; false where there is none. A blank line is a record without fields.
  bool next();
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

  std::vector<std::string_view> fields;

 private:
  void add_field();
  std::string_view odd_field();

  const char* begin_;
  const char* at_;
  const char* end_;
  std::deque<std::string> unquoted_;  // a vector would move short texts
  size_t used_ = 0;
};

struct CsvRows {
  size_t seen = 0;  // records with fields
  size_t kept = 0;
  bool last_kept = false;
};

/// Fills the columns, one for each of the header's, from the records behind it; false where Python
/// must judge: a time is written in an odd way, or a field is larger than `csv` is told to take.
/// `interrupted` is asked now and then and may throw.
bool read_csv(std::string_view text, std::vector<CsvColumn>& columns, CsvRows& rows,
              void (*interrupted)());

}  // namespace overlap_native
