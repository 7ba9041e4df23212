#include "csv_columns.h"

#include <cstring>

namespace overlap_native {

namespace {

constexpr size_t kRowsBetweenAsks = 1 << 16;
constexpr size_t kLargestField = 16 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a field holds only digits, at least one, and their number fits.
bool plain_number(std::string_view text, int64_t& value) {
  constexpr size_t kMostDigits = 18;
  if (text.empty() || text.size() > kMostDigits + 1) return false;
  uint64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  value = static_cast<int64_t>(number);
  return value >= 0;  // 19 digits can be too many, and never more than 64 bits
}

enum class Judged { time, other, odd };

/// Text with a letter or without a digit is no time; blanks and signs of other alphabets are odd.
Judged judge(std::string_view text, int64_t& value) {
  if (plain_number(text, value)) return Judged::time;
  if (text.empty()) return Judged::other;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && !is_digit(c)) return Judged::other;
  }
  return Judged::odd;
}

/// Adds a record whose fields are as many as the columns.
class Adder {
 public:
  Adder(std::vector<CsvColumn>& columns, CsvRows& rows) : columns_(columns), rows_(rows) {}

  bool add(const std::vector<std::string_view>& fields) {
    for (const std::string_view field : fields) {
      if (field.size() > kLargestField) return false;
    }
    ++rows_.seen;
    rows_.last_kept = false;
    if (fields.size() != columns_.size()) return true;
    const Judged times = judge_times(fields);
    if (times != Judged::time) return times == Judged::other;
    for (size_t at = 0; at < fields.size(); ++at) add_field(columns_[at], fields[at]);
    ++rows_.kept;
    rows_.last_kept = true;
    return true;
  }

 private:
  Judged judge_times(const std::vector<std::string_view>& fields) {
    Judged all = Judged::time;
    for (size_t at = 0; at < fields.size(); ++at) {
      if (columns_[at].field != Field::time) continue;
      int64_t value = 0;
      const Judged one = judge(fields[at], value);
      if (one == Judged::other) return one;
      if (one == Judged::odd) all = one;
    }
    return all;
  }

  void add_field(CsvColumn& column, std::string_view text) const {
    if (column.field == Field::skipped) return;
    if (column.field == Field::text) {
      column.texts.push(text);
      return;
    }
    int64_t value = 0;
    if (!plain_number(text, value)) {
      value = 0;
      column.odd_rows.push(static_cast<uint32_t>(rows_.kept));
      column.texts.push(text);
    }
    column.numbers.push(value);
  }

  std::vector<CsvColumn>& columns_;
  CsvRows& rows_;
};

}  // namespace

bool CsvRecords::next() {
  fields.clear();
  used_ = 0;
  if (at_ == end_) return false;
  if (*at_ != '\n' && *at_ != '\r') {
    add_field();
    while (at_ != end_ && *at_ == ',') {
      ++at_;
      add_field();
    }
  }
  if (at_ != end_ && *at_ == '\r') ++at_;
  if (at_ != end_ && *at_ == '\n') ++at_;
  return true;
}

void CsvRecords::add_field() {
  const char* from = at_;
  if (at_ != end_ && *at_ == '"') {
    const auto left = static_cast<size_t>(end_ - at_ - 1);
    const auto* close = static_cast<const char*>(std::memchr(at_ + 1, '"', left));
    const char* behind = close == nullptr ? end_ : close + 1;
    if (close == nullptr ||
        (behind != end_ && *behind != ',' && *behind != '\n' && *behind != '\r')) {
      fields.push_back(odd_field());
      return;
    }
    fields.emplace_back(from + 1, static_cast<size_t>(close - from - 1));
    at_ = behind;
    return;
  }
  while (at_ != end_ && *at_ != ',' && *at_ != '\n' && *at_ != '\r') ++at_;
  fields.emplace_back(from, static_cast<size_t>(at_ - from));
}

/// A field that begins with a quote and has more of them inside, or none at its end: as `csv` takes
/// it, a doubled quote is one, and what follows the closing one belongs to the field.
std::string_view CsvRecords::odd_field() {
  if (used_ == unquoted_.size()) unquoted_.emplace_back();
  std::string& text = unquoted_[used_++];
  text.clear();
  bool inside = true;
  for (++at_; at_ != end_; ++at_) {
    if (!inside) {
      if (*at_ == ',' || *at_ == '\n' || *at_ == '\r') break;
      text.push_back(*at_);
    } else if (*at_ != '"') {
      text.push_back(*at_);
    } else if (at_ + 1 != end_ && at_[1] == '"') {
      text.push_back('"');
      ++at_;
    } else {
      inside = false;
    }
  }
  return text;
}

bool read_csv(std::string_view text, std::vector<CsvColumn>& columns, CsvRows& rows,
              void (*interrupted)()) {
  CsvRecords records(text);
  Adder adder(columns, rows);
  for (size_t count = 1; records.next(); ++count) {
    if (!records.fields.empty() && !adder.add(records.fields)) return false;
    if (count % kRowsBetweenAsks == 0) interrupted();
  }
  return true;
}

}  // namespace overlap_native
