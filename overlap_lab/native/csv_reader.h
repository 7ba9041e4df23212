// CSV text, handed over in pieces, into columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "csv_columns.h"
#include "csv_index.h"
#include "csv_records.h"

namespace overlap_native {

/// Reads the records behind the header. Of the text only what is not yet a whole record is kept.
class CsvReader {
 public:
  explicit CsvReader(const std::vector<Field>& fields, Path path = fastest_path());

  /// How much text is best read next: more where a record is long.
  size_t wanted() const;
  /// Where the next `size` bytes of text are to be written before `read`.
  char* room(size_t size);
  /// Read the records that `size` more bytes complete; all of them where they are the `last`. False
  /// where Python must judge: the text is not UTF-8 or has zero bytes, a time is written in an odd
  /// way, a field is larger than `csv` is told to take. Nothing may be read after that.
  bool read(size_t size, bool last);

  /// Gives back what is needed to read more; the columns stay.
  void finish();

  /// Whether the last byte of the text so far is a line end.
  bool ends_line() const { return ends_line_; }
  /// Bytes of whole records read so far.
  uint64_t used() const { return used_; }

  std::vector<CsvColumn> columns;
  CsvRows rows;

 private:
  size_t records(const char* text, size_t size, bool last);
  size_t indexed_records(const char* text, size_t size);
  size_t odd_records(const char* text, size_t size, bool last);
  void add_record(const std::vector<CsvText>& fields);
  void find_rows();
  void add_rows(const char* text);
  bool judge_times(const char* text);
  void judge_column(const char* text, size_t column);
  void drop_untimed();
  void read_cells(const char* text, size_t column);
  CsvText unquoted(const char* begin, const char* end);

  Path path_;
  CsvIndex index_;
  CsvAdder adder_;
  std::vector<char> buffer_;
  size_t held_ = 0;    // bytes of text in the buffer
  size_t enough_ = 0;  // bytes to look at again what held no whole record
  uint64_t used_ = 0;
  bool ends_line_ = false;
  bool plain_ = true;                 // nothing for Python to judge so far
  std::vector<uint32_t> rows_;        // the separator before each row of the piece
  std::vector<Judged> judged_;        // what the times of each are
  std::vector<CsvText> cells_;        // of one column
  std::deque<std::string> unquoted_;  // those that are not in the text as they are
  size_t unquoted_used_ = 0;
};

}  // namespace overlap_native
