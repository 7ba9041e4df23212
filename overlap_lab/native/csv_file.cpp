#include "csv_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "progress.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kSearched = 1 << 16;  // bytes in which a part's beginning is looked for

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat found{};
    if (descriptor_ >= 0 && fstat(descriptor_, &found) == 0)
      size_ = static_cast<uint64_t>(found.st_size);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  bool valid() const { return descriptor_ >= 0; }
  uint64_t size() const { return size_; }
  /// Whether `size` bytes from `at` on could be read.
  bool read(char* to, size_t size, uint64_t at) const {
    while (size != 0) {
      const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(at));
      if (got <= 0) return false;
      to += got;
      at += static_cast<uint64_t>(got);
      size -= static_cast<size_t>(got);
    }
    return true;
  }

 private:
  int descriptor_;
  uint64_t size_ = 0;
};

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
    std::atomic<size_t> next{0};
    const Task work = [this, &next](const Stop& stop) {
      for (size_t at = next++; at < parts_.size() && !stop.asked(); at = next++) {
        read_part(parts_[at], stop);
      }
    };
    const size_t threads = std::min(thread_count(), parts_.size());
    run_tasks(std::vector<Task>(threads, work), interrupted);
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
    part.plain = true;
    while (part.plain && !stop.asked()) {
      const size_t size = std::min<uint64_t>(part.reader->wanted(), part.end - at);
      part.plain = opened.read(part.reader->room(size), size, at);
      progress().add_bytes(size);
      at += size;
      const bool last = at == opened.size();
      part.plain = part.plain && part.reader->read(size, last);
      if (at == part.end) break;
    }
    part.used = part.begin + part.reader->used();
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
