#include "csv_reader.h"

#include <algorithm>
#include <cstring>

namespace overlap_native {

namespace {

constexpr size_t kPiece = 1 << 18;  // what it is indexed to stays in the second-level cache
constexpr size_t kMargin = 64;      // bytes behind the text that may be looked at
constexpr size_t kLargestField = 16 << 20;
constexpr size_t kLargestRecord = 64 << 20;

}  // namespace

CsvReader::CsvReader(const std::vector<Field>& fields, Path path) : path_(path) {
  columns.resize(fields.size());
  for (size_t at = 0; at < fields.size(); ++at) columns[at].field = fields[at];
}

size_t CsvReader::wanted() const { return std::max(kPiece, held_); }

char* CsvReader::room(size_t size) {
  if (buffer_.size() < held_ + size + kMargin) buffer_.resize(held_ + size + kMargin);
  return buffer_.data() + held_;
}

bool CsvReader::read(size_t size, bool last) {
  held_ += size;
  if (size != 0) ends_line_ = buffer_[held_ - 1] == '\n' || buffer_[held_ - 1] == '\r';
  if (!last && held_ < enough_) return plain_;
  buffer_[held_] = '\n';  // what stands behind an empty field at the end of the text is no quote
  const size_t used = records(buffer_.data(), held_, last);
  held_ -= used;
  used_ += used;
  enough_ = used == 0 ? 2 * held_ : 0;
  std::memmove(buffer_.data(), buffer_.data() + used, held_);
  return plain_ && held_ < kLargestRecord;
}

void CsvReader::finish() {
  index_ = {};
  adder_ = {};
  buffer_ = {};
  rows_ = {};
  judged_ = {};
  cells_ = {};
  unquoted_ = {};
}

/// Adds the whole records of the text; returns their bytes.
size_t CsvReader::records(const char* text, size_t size, bool last) {
  index_csv(text, size, last, path_, index_);
  plain_ = index_.clean;
  if (!plain_) return 0;
  const bool long_fields = size > kLargestField;
  return index_.odd || long_fields ? odd_records(text, size, last) : indexed_records(text, size);
}

size_t CsvReader::odd_records(const char* text, size_t size, bool last) {
  CsvRecords records({text, size});
  size_t used = 0;
  while (plain_ && records.next() && (records.closed() || last)) {
    used = records.offset();
    if (!records.fields.empty()) add_record(records.fields);
  }
  return used;
}

void CsvReader::add_record(const std::vector<CsvText>& fields) {
  for (const CsvText field : fields) plain_ &= field.size() <= kLargestField;
  ++rows.seen;
  rows.last_kept = false;
  if (fields.size() != columns.size()) return;
  Judged all = Judged::time;
  int64_t value = 0;
  for (size_t at = 0; at < fields.size() && all != Judged::other; ++at) {
    if (columns[at].field != Field::time) continue;
    const Judged one = judge_time(fields[at], value);
    if (one != Judged::time) all = one;
  }
  plain_ &= all != Judged::odd;
  if (all != Judged::time) return;
  for (size_t at = 0; at < fields.size(); ++at) {
    if (columns[at].field == Field::time) {
      judge_time(fields[at], value);
      columns[at].times.push(value);
    } else {
      adder_.add(columns[at], &fields[at], 1, rows.kept);
    }
  }
  ++rows.kept;
  rows.last_kept = true;
}

size_t CsvReader::indexed_records(const char* text, size_t size) {
  if (index_.lines.size() == 0) return 0;
  find_rows();
  add_rows(text);
  const uint32_t last = index_.lines[index_.lines.size() - 1];
  return std::min(static_cast<size_t>(index_.separators[last]) + 1, size);
}

/// The records that have as many fields as there are columns.
void CsvReader::find_rows() {
  rows_.clear();
  uint32_t before = 0;  // the separator before the record
  for (size_t line = 0; line < index_.lines.size(); ++line) {
    const uint32_t end = index_.lines[line];
    const bool blank = end == before + 1 && index_.separators[end] == index_.separators[before] + 1;
    if (!blank) {
      ++rows.seen;
      rows.last_kept = end - before == columns.size();
      if (rows.last_kept) rows_.push_back(before);
    }
    before = end;
  }
}

void CsvReader::add_rows(const char* text) {
  if (rows_.empty()) return;
  const uint32_t last = rows_.back();
  if (!judge_times(text)) {
    plain_ = false;
    return;
  }
  if (rows_.empty() || rows_.back() != last) rows.last_kept = false;
  for (size_t at = 0; at < columns.size(); ++at) {
    const Field field = columns[at].field;
    if (field == Field::skipped || field == Field::time) continue;
    read_cells(text, at);
    adder_.add(columns[at], cells_.data(), cells_.size(), rows.kept);
  }
  rows.kept += rows_.size();
}

/// Reads the times and drops the rows without; false where Python must judge one.
bool CsvReader::judge_times(const char* text) {
  judged_.assign(rows_.size(), Judged::time);
  for (size_t at = 0; at < columns.size(); ++at) {
    if (columns[at].field == Field::time) judge_column(text, at);
  }
  bool whole = true;
  for (const Judged each : judged_) {
    if (each == Judged::odd) return false;
    whole &= each == Judged::time;
  }
  if (!whole) drop_untimed();
  return true;
}

void CsvReader::judge_column(const char* text, size_t column) {
  read_cells(text, column);
  Column<int64_t>& times = columns[column].times;
  times.grow(rows.kept + cells_.size());
  for (size_t i = 0; i < cells_.size(); ++i) {
    int64_t value = 0;
    const Judged one = judge_time(cells_[i], value);
    if (one != Judged::time && judged_[i] != Judged::other) judged_[i] = one;
    times[rows.kept + i] = value;
  }
}

void CsvReader::drop_untimed() {
  size_t kept = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (judged_[i] != Judged::time) continue;
    for (CsvColumn& column : columns) {
      if (column.field == Field::time) {
        column.times[rows.kept + kept] = column.times[rows.kept + i];
      }
    }
    rows_[kept++] = rows_[i];
  }
  rows_.resize(kept);
  for (CsvColumn& column : columns) {
    if (column.field == Field::time) column.times.set_size(rows.kept + kept);
  }
}

void CsvReader::read_cells(const char* text, size_t column) {
  cells_.resize(rows_.size());
  unquoted_used_ = 0;
  const int32_t* separators = index_.separators.data() + column;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const char* begin = text + separators[rows_[i]] + 1;
    const char* end = text + separators[rows_[i] + 1];
    cells_[i] = *begin == '"' ? unquoted(begin + 1, end - 1)
                              : CsvText(begin, static_cast<size_t>(end - begin));
  }
}

CsvText CsvReader::unquoted(const char* begin, const char* end) {
  const CsvText text(begin, static_cast<size_t>(end - begin));
  if (!index_.doubled || text.find('"') == CsvText::npos) return text;
  if (unquoted_used_ == unquoted_.size()) unquoted_.emplace_back();
  std::string& without = unquoted_[unquoted_used_++];
  unquote(text, without);
  return without;
}

}  // namespace overlap_native
