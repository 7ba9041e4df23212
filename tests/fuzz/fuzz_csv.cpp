// CSV: records and columns equal those of a reader that takes one byte at a time, whether the text
// comes in pieces, or as a file that is read in parts.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "csv_file.h"
#include "csv_reader.h"
#include "law.h"
#include "memory_file.h"
#include "plain_text.h"

namespace {

using fuzz::require;
using overlap_native::CsvColumn;
using overlap_native::CsvReader;
using overlap_native::Field;
using Record = std::vector<std::string>;

/// Records as Python's `csv` has them when it takes every line end.
class PlainRecords {
 public:
  explicit PlainRecords(std::string_view text) : text_(text) {}

  std::optional<Record> next() {
    if (at_ >= text_.size()) return std::nullopt;
    Record record;
    if (!line_ends()) {
      record.push_back(field());
      while (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        record.push_back(field());
      }
    }
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    return record;
  }
  size_t offset() const { return at_; }

 private:
  bool line_ends() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  std::string field() {
    std::string content;
    bool quoted = at_ < text_.size() && text_[at_] == '"';
    if (quoted) ++at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted && c == '"') {
        const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '"';
        if (!doubled) {
          quoted = false;
          continue;
        }
        ++at_;
      } else if (!quoted && (c == ',' || line_ends())) {
        break;
      }
      content += c;
    }
    return content;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<int64_t> plain_number(const std::string& text) {
  constexpr size_t kMost = 19;
  if (text.empty() || text.size() > kMost) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const unsigned long long value = std::stoull(text);
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

/// A text that is no number, but that Python might take for one.
bool is_odd(const std::string& text) {
  if (text.empty() || plain_number(text)) return false;
  for (const char c : text) {
    if (c > ' ' && c < '\x7f' && (c < '0' || c > '9')) return false;
  }
  return true;
}

struct Plain {
  std::vector<Record> kept;
  size_t seen = 0;
  bool last_kept = false;
  bool judged = true;  // nothing is left to another reader
};

/// Whether the record has what its row takes; `judged` is unset where that is not known.
bool has_times(const Record& record, const std::vector<Field>& fields, bool& judged) {
  bool good = true, other = false, odd = false;
  for (size_t at = 0; at < record.size(); ++at) {
    if (fields[at] != Field::time) continue;
    const bool number = plain_number(record[at]).has_value();
    good &= number;
    odd |= is_odd(record[at]);
    other |= !number && !is_odd(record[at]);
  }
  if (odd && !other) judged = false;
  return good;
}

Plain read_plainly(std::string_view text, const std::vector<Field>& fields) {
  Plain plain;
  plain.judged = fuzz::is_utf8(text) && text.find('\0') == std::string_view::npos;
  PlainRecords records(text);
  while (const auto record = records.next()) {
    if (record->empty()) continue;
    ++plain.seen;
    plain.last_kept = record->size() == fields.size() && has_times(*record, fields, plain.judged);
    if (plain.last_kept) plain.kept.push_back(*record);
  }
  return plain;
}

/// The rows of one reader, which are those from the given one on.
void check_column(const CsvColumn& column, size_t count, const std::vector<Record>& rows,
                  size_t first, size_t at) {
  size_t odd = 0;
  for (size_t row = 0; row < count; ++row) {
    const std::string& text = rows[first + row][at];
    if (column.field == Field::text) {
      require(column.texts[static_cast<size_t>(column.codes[row])] == text, "texts are kept");
      continue;
    }
    const auto number = plain_number(text);
    const int64_t found = column.field == Field::time ? column.times[row] : column.numbers[row];
    require(found == number.value_or(0), "a number is exact");
    if (number) continue;
    require(odd < column.odd_rows.size() && column.odd_rows[odd] == row, "odd rows are listed");
    const auto code = static_cast<size_t>(column.codes[odd++]);
    require(column.texts[code] == text, "the text of an odd number is kept");
  }
  require(odd == column.odd_rows.size(), "only odd rows are listed");
}

/// Returns how many rows are behind those of this reader.
size_t check_rows(const CsvReader& reader, const Plain& plain, size_t first) {
  require(first + reader.rows.kept <= plain.kept.size(), "no row is made up");
  for (size_t at = 0; at < reader.columns.size(); ++at) {
    if (reader.columns[at].field == Field::skipped) continue;
    check_column(reader.columns[at], reader.rows.kept, plain.kept, first, at);
  }
  return first + reader.rows.kept;
}

void check_records(std::string_view text) {
  PlainRecords plain(text);
  overlap_native::CsvRecords records(text);
  while (const auto record = plain.next()) {
    require(records.next(), "there is a record");
    require(Record(records.fields.begin(), records.fields.end()) == *record, "fields are the same");
    require(records.offset() == plain.offset(), "a record ends at the same place");
  }
  require(!records.next(), "there is no more record");
}

void check_pieces(std::string_view text, const std::vector<Field>& fields, const Plain& plain,
                  overlap_native::Path path, size_t most) {
  CsvReader reader(fields, path);
  fuzz::Chance chance(most);
  bool judged = true;
  for (size_t at = 0; judged && at <= text.size();) {
    const size_t size = std::min<size_t>(1 + chance.below(most), text.size() - at);
    std::memcpy(reader.room(size), text.data() + at, size);
    at += size;
    judged = reader.read(size, at == text.size());
    if (at == text.size()) break;
  }
  require(judged == plain.judged, "only odd times and text are left to another reader");
  if (!judged) return;
  require(reader.rows.seen == plain.seen && reader.rows.last_kept == plain.last_kept,
          "records are counted");
  require(check_rows(reader, plain, 0) == plain.kept.size(), "each row is there");
}

void check_file(std::string_view text, const std::vector<Field>& fields, const Plain& plain,
                size_t part_size) {
  constexpr std::string_view kHeader = "header\n";
  static const fuzz::MemoryFile file;
  file.write(kHeader, text);
  std::vector<overlap_native::CsvFile> files;
  for (int i = 0; i < 2; ++i) files.push_back({file.path(), kHeader.size(), fields, {}, false});
  overlap_native::read_csv_files(files, part_size, [] {});
  for (const auto& read : files) {
    require(read.parts.empty() == !plain.judged, "a file is judged as its text is");
    const bool ends = !text.empty() && (text.back() == '\n' || text.back() == '\r');
    require(read.ends_line == (ends || text.empty()), "it is known whether a line is cut off");
    size_t seen = 0, kept = 0;
    for (const auto& part : read.parts) {
      seen += part->rows.seen;
      kept = check_rows(*part, plain, kept);
    }
    if (plain.judged) require(seen == plain.seen && kept == plain.kept.size(), "all is there once");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr unsigned kMost = 8;
  fuzz::Choices choices(data, size);
  const uint8_t settings = choices.byte();
  const uint32_t kinds = choices.word();
  std::vector<Field> fields(1 + settings % kMost);
  for (size_t at = 0; at < fields.size(); ++at)
    fields[at] = static_cast<Field>(kinds >> 2 * at & 3);
  const size_t most = size_t{1} << (settings >> 4);
  const std::string_view text = choices.rest();
  check_records(text);
  const Plain plain = read_plainly(text, fields);
  for (const auto path :
       {overlap_native::Path::scalar, overlap_native::Path::avx2, overlap_native::Path::avx512}) {
    if (overlap_native::path_supported(path)) check_pieces(text, fields, plain, path, most);
  }
  if ((settings & 8) != 0) check_file(text, fields, plain, most);
  return 0;
}
