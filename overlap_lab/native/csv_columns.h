// Fields of CSV text into columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "column.h"
#include "interned.h"
#include "narrow_column.h"

namespace overlap_native {

/// How the fields of a column are read.
enum class Field {
  skipped,
  integer,  // decimal digits that fit 63 bits; the odd texts are kept beside the column
  time,     // the same; a row without one is left out
  text,
};

/// A field as it stands in the text. 16 bytes behind its end can be read.
using CsvText = std::string_view;

struct CsvColumn {
  Field field;
  Column<int64_t> times;
  NarrowColumn numbers;  // 0 where the text is odd
  NarrowColumn codes;    // of all texts of a text column, of the odd ones of an integer column
  Interned texts;
  Column<uint32_t> odd_rows;  // of an integer column
  size_t last_code = 0;       // rows in a row are often alike
};

struct CsvRows {
  size_t seen = 0;  // records with fields
  size_t kept = 0;
  bool last_kept = false;
};

/// What a time's text is: text with a letter or without a digit is none; blanks and signs of other
/// alphabets are for Python to judge.
enum class Judged : uint8_t { time, other, odd };

Judged judge_time(CsvText text, int64_t& value);

/// Adds one field of each of some rows; `first_row`: how many the column had before.
class CsvAdder {
 public:
  void add(CsvColumn& column, const CsvText* cells, size_t count, size_t first_row);

 private:
  void add_numbers(CsvColumn& column, const CsvText* cells, size_t count, size_t first_row);
  void add_texts(CsvColumn& column, const CsvText* cells, size_t count);

  std::vector<int64_t> values_;
};

}  // namespace overlap_native
