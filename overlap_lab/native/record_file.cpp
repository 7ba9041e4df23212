#include "record_file.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "open_file.h"
#include "record_parser.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kSearched = 1 << 16;  // bytes in which a part's beginning is looked for

struct Part {
  uint64_t begin;  // behind a record, if the part before ends there
  uint64_t end;
  std::unique_ptr<RecordParser> parser;
  bool plain = true;

  uint64_t used() const { return begin + parser->used(); }
};

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class Reading {
 public:
  Reading(const OpenFile& file, uint64_t begin, uint64_t part_size, const WantedArguments& wanted)
      : file_(file), part_size_(std::max<uint64_t>(part_size, 1)), wanted_(wanted) {
    parts_.push_back({begin, begin, std::make_unique<RecordParser>(wanted)});
  }

  bool read(const std::function<void()>& interrupted, RecordDocument& found) {
    run_tasks({[this](const Stop& stop) { read_head(stop); }}, interrupted);
    if (!parts_[0].plain) return false;
    if (parts_[0].end < file_.size()) {
      add_parts();
      read_parts(interrupted);
      run_tasks({[this](const Stop& stop) { join(stop); }}, interrupted);
    }
    found = std::move(parts_[0].parser->document);
    return parts_[0].plain;
  }

 private:
  /// What comes before the records, and the first of them.
  void read_head(const Stop& stop) {
    Part& head = parts_[0];
    RecordParser& parser = *head.parser;
    head.plain = read_pieces(file_, head.end, file_.size(), parser, stop,
                             [&parser] { return parser.in_list(); });
  }

  void add_parts() {
    const uint64_t begin = parts_[0].end;
    for (uint64_t near = begin + part_size_; near < file_.size(); near += part_size_) {
      const uint64_t next = behind_record(near);
      if (next <= parts_.back().begin || next >= file_.size()) continue;
      parts_.push_back({next, file_.size(), nullptr});
    }
    for (size_t at = 0; at + 1 < parts_.size(); ++at) parts_[at].end = parts_[at + 1].begin;
    parts_.back().end = file_.size();
    read_to_ = begin;
    callback_ = parts_[0].parser->callback();
  }

  /// The end of a record that is not far behind `near`, as far as one can guess; 0 for none.
  uint64_t behind_record(uint64_t near) const {
    const std::string& opening = parts_[0].parser->opening();
    std::vector<char> text(std::min<uint64_t>(kSearched, file_.size() - near));
    if (opening.empty() || !file_.read(text.data(), text.size(), near)) return 0;
    const std::string_view searched(text.data(), text.size());
    for (size_t at = searched.find(opening); at != std::string_view::npos;
         at = searched.find(opening, at + 1)) {
      size_t behind = at;
      while (behind > 0 && is_blank(searched[behind - 1])) --behind;
      if (behind == 0 || searched[behind - 1] != ',') continue;
      for (--behind; behind > 0 && is_blank(searched[behind - 1]);) --behind;
      if (behind != 0) return near + behind;
    }
    return 0;
  }

  void read_parts(const std::function<void()>& interrupted) {
    in_turns(
        parts_.size(), [this](size_t at, const Stop& stop) { read_part(parts_[at], stop); },
        interrupted);
  }

  void read_part(Part& part, const Stop& stop) {
    uint64_t at = part.parser == nullptr ? part.begin : read_to_;
    if (part.parser == nullptr) {
      part.parser = std::make_unique<RecordParser>(wanted_);
      part.parser->begin_in_list(callback_);
    }
    if (at < part.end) {
      part.plain = read_pieces(file_, at, part.end, *part.parser, stop, [] { return false; });
    }
  }

  /// A part is right if the one before ends in a list where it begins; else the one before reads
  /// on. All become the first one's.
  void join(const Stop& stop) {
    size_t before = 0;
    for (size_t at = 1; at < parts_.size() && parts_[before].plain && !stop.asked(); ++at) {
      Part& last = parts_[before];
      Part& part = parts_[at];
      const bool same = last.parser->in_list() && last.parser->callback() == callback_;
      if (same && last.used() == part.begin) {
        before = at;
        continue;
      }
      uint64_t from = part.begin;
      last.plain = read_pieces(file_, from, part.end, *last.parser, stop, [] { return false; });
      part.parser = nullptr;
    }
    parts_[0].plain = parts_[before].plain;
    for (size_t at = 1; at < parts_.size(); ++at) {
      if (parts_[at].parser == nullptr) continue;
      parts_[0].parser->document.append(std::move(parts_[at].parser->document));
    }
  }

  const OpenFile& file_;
  uint64_t part_size_;
  const WantedArguments& wanted_;
  uint64_t read_to_ = 0;   // what the head has read
  bool callback_ = false;  // what its list is of, and so that of each part
  std::vector<Part> parts_;
};

}  // namespace

bool read_record_file(const std::string& path, uint64_t begin, uint64_t part_size,
                      const WantedArguments& wanted, RecordDocument& found,
                      const std::function<void()>& interrupted) {
  const OpenFile file(path);
  if (!file.valid() || begin >= file.size()) return false;
  return Reading(file, begin, part_size, wanted).read(interrupted, found);
}

}  // namespace overlap_native
