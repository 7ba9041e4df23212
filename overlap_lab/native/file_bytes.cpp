#include "file_bytes.h"

#include <unistd.h>

#include <cerrno>

namespace overlap_native {

size_t read_at(int file, uint64_t offset, char* room, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file, room + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace overlap_native
