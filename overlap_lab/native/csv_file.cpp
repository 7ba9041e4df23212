#include "csv_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "open_file.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kSearched = 1 << 16;  // bytes in which a part's beginning is looked for

struct Part {
  size_t file;
  uint64_t begin;  // of a record, if the part before ends there
  uint64_t end;
  uint64_t used = 0;  // where its last whole record ends
  std::unique_ptr<CsvReader> reader;
  bool plain = false;
};

class Reading {
 public:
  Reading(std::vector<CsvFile>& files, uint64_t part_size) : files_(files) {
    for (size_t at = 0; at < files.size(); ++at) {
      opened_.push_back(std::make_unique<OpenFile>(files[at].path));
      add_parts(at, std::max<uint64_t>(part_size, 1));
    }
  }

  void read(const std::function<void()>& interrupted) {
    in_turns(
        parts_.size(), [this](size_t at, const Stop& stop) { read_part(parts_[at], stop); },
        interrupted);
    run_tasks({[this](const Stop& stop) { prove(stop); }}, interrupted);
    for (size_t at = 0; at < files_.size(); ++at) hand_over(at);
  }

 private:
  void add_parts(size_t file, uint64_t part_size) {
    const OpenFile& opened = *opened_[file];
    uint64_t begin = files_[file].begin;
    if (!opened.valid() || begin > opened.size()) return;
    for (uint64_t near = begin + part_size; near < opened.size(); near += part_size) {
      const uint64_t next = behind_line(opened, near);
      if (next <= begin || next >= opened.size()) continue;
      parts_.push_back({file, begin, next, begin, nullptr, false});
      begin = next;
    }
    parts_.push_back({file, begin, opened.size(), begin, nullptr, false});
  }

  /// The byte behind a line feed that is not far behind `near`; 0 for none.
  static uint64_t behind_line(const OpenFile& opened, uint64_t near) {
    std::vector<char> text(std::min<uint64_t>(kSearched, opened.size() - near));
    if (!opened.read(text.data(), text.size(), near)) return 0;
    const void* found = std::memchr(text.data(), '\n', text.size());
    if (found == nullptr) return 0;
    return near + static_cast<uint64_t>(static_cast<const char*>(found) - text.data()) + 1;
  }

  void read_part(Part& part, const Stop& stop) {
    const OpenFile& opened = *opened_[part.file];
    part.reader = std::make_unique<CsvReader>(files_[part.file].fields);
    uint64_t at = part.begin;
    part.plain = read_pieces(opened, at, part.end, *part.reader, stop, [] { return false; });
    part.used = part.begin + part.reader->used();
    part.reader->finish();
  }

  /// A part is right if it begins where the records before it end, else it is read again.
  void prove(const Stop& stop) {
    for (size_t at = 1; at < parts_.size() && !stop.asked(); ++at) {
      const Part& before = parts_[at - 1];
      Part& part = parts_[at];
      if (part.file != before.file || part.begin == before.used || !before.plain) continue;
      part.begin = before.used;
      read_part(part, stop);
    }
  }

  void hand_over(size_t file) {
    const OpenFile& opened = *opened_[file];
    bool plain = true;
    for (Part& part : parts_) {
      if (part.file != file) continue;
      plain &= part.plain;
      files_[file].parts.push_back(std::move(part.reader));
    }
    char last = '\0';
    plain &= opened.size() == 0 || opened.read(&last, 1, opened.size() - 1);
    files_[file].ends_line = last == '\n' || last == '\r';
    if (!plain) files_[file].parts.clear();
  }

  std::vector<CsvFile>& files_;
  std::vector<std::unique_ptr<OpenFile>> opened_;
  std::vector<Part> parts_;
};

}  // namespace

void read_csv_files(std::vector<CsvFile>& files, uint64_t part_size,
                    const std::function<void()>& interrupted) {
  Reading(files, part_size).read(interrupted);
}

}  // namespace overlap_native
