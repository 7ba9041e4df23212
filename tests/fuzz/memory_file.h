// A file in memory with a name, one for all inputs of a process.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "law.h"

namespace fuzz {

class MemoryFile {
 public:
  MemoryFile() : path_("/dev/shm/overlap_lab_fuzz_" + std::to_string(getpid())) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    require(file_ >= 0, "there is memory for a file");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    close(file_);
    unlink(path_.c_str());
  }
  /// Its content from now on: one text behind the other.
  void write(std::string_view before, std::string_view behind) const {
    require(ftruncate(file_, 0) == 0, "the file is emptied");
    put(before, 0);
    put(behind, static_cast<off_t>(before.size()));
  }
  const std::string& path() const { return path_; }
  int descriptor() const { return file_; }

 private:
  void put(std::string_view text, off_t at) const {
    const auto written = pwrite(file_, text.data(), text.size(), at);
    require(written == static_cast<ssize_t>(text.size()), "the file is written");
  }

  std::string path_;
  int file_;
};

}  // namespace fuzz
