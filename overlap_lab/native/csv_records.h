// Records of CSV text, one byte after the other, parted as Python's `csv` module parts them.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace overlap_native {

/// One record after the other. Fields lie in the text, or beside it where quotes were inside.
class CsvRecords {
 public:
  explicit CsvRecords(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}
  /// Reads the next record; false where there is none. A blank line is a record without fields.
  bool next();
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  /// Whether a line end closed the record, and not the end of the text.
  bool closed() const { return closed_; }

  std::vector<std::string_view> fields;

 private:
  void add_field();
  std::string_view odd_field();

  const char* begin_;
  const char* at_;
  const char* end_;
  std::deque<std::string> unquoted_;  // a vector would move short texts
  size_t used_ = 0;
  bool closed_ = false;
};

/// The text without the second of two quotes, and with bytes behind its end that can be read.
void unquote(std::string_view text, std::string& unquoted);

}  // namespace overlap_native
