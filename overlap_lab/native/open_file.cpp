#include "open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace overlap_native {

OpenFile::OpenFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat found{};
  if (descriptor_ >= 0 && fstat(descriptor_, &found) == 0) {
    size_ = static_cast<uint64_t>(found.st_size);
  }
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OpenFile::read(char* to, size_t size, uint64_t at) const {
  while (size != 0) {
    const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(at));
    if (got <= 0) return false;
    to += got;
    at += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace overlap_native
