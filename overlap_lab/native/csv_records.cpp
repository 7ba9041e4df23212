#include "csv_records.h"

#include <cstring>

namespace overlap_native {

namespace {

/// Numbers are read eight digits at a time, past their end.
void make_readable_behind(std::string& text) {
  constexpr size_t kMargin = 16;
  text.append(kMargin, '\0');
  text.resize(text.size() - kMargin);
}

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
  closed_ = at_ != end_;
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
  make_readable_behind(text);
  return text;
}

void unquote(std::string_view text, std::string& unquoted) {
  unquoted.clear();
  for (size_t at = 0; at < text.size(); ++at) {
    unquoted.push_back(text[at]);
    if (text[at] == '"') ++at;
  }
  make_readable_behind(unquoted);
}

}  // namespace overlap_native
