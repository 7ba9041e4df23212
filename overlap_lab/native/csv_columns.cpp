#include "csv_columns.h"

#include "digits.h"

namespace overlap_native {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a field holds only digits, at least one, and their number fits.
bool plain_number(CsvText text, int64_t& value) {
  constexpr size_t kMostDigits = 19;  // they can be too many for 63 bits, and never for 64
  if (text.empty() || text.size() > kMostDigits) return false;
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  if (append_digits(text.data(), end, number) != text.size()) return false;
  value = static_cast<int64_t>(number);
  return value >= 0;
}

int64_t code_of(CsvColumn& column, CsvText text) {
  const bool alike = column.texts.size() != 0 && column.texts[column.last_code] == text;
  if (!alike) column.last_code = column.texts.code_of(text);
  return static_cast<int64_t>(column.last_code);
}

}  // namespace

Judged judge_time(CsvText text, int64_t& value) {
  if (plain_number(text, value)) return Judged::time;
  if (text.empty()) return Judged::other;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && !is_digit(c)) return Judged::other;
  }
  return Judged::odd;
}

void CsvAdder::add(CsvColumn& column, const CsvText* cells, size_t count, size_t first_row) {
  if (column.field == Field::text) add_texts(column, cells, count);
  if (column.field == Field::integer) add_numbers(column, cells, count, first_row);
}

void CsvAdder::add_numbers(CsvColumn& column, const CsvText* cells, size_t count,
                           size_t first_row) {
  values_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    if (!plain_number(cells[i], value)) {
      value = 0;
      const int64_t code = code_of(column, cells[i]);
      column.odd_rows.push(static_cast<uint32_t>(first_row + i));
      column.codes.append(&code, 1);
    }
    values_[i] = value;
  }
  column.numbers.append(values_.data(), count);
}

void CsvAdder::add_texts(CsvColumn& column, const CsvText* cells, size_t count) {
  values_.resize(count);
  for (size_t i = 0; i < count; ++i) values_[i] = code_of(column, cells[i]);
  column.codes.append(values_.data(), count);
}

}  // namespace overlap_native
