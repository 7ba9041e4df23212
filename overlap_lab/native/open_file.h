// A file that is read at any offset, by several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "progress.h"
#include "threads.h"

namespace overlap_native {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  bool valid() const { return descriptor_ >= 0; }
  uint64_t size() const { return size_; }
  /// Whether `size` bytes from `at` on could be read.
  bool read(char* to, size_t size, uint64_t at) const;

 private:
  int descriptor_;
  uint64_t size_ = 0;
};

/// Gives the bytes from `begin` to `end` to a reader, piece by piece, until `enough()`; false where
/// the reader cannot go on or the file cannot be read. `begin` is then behind what was given.
template <class Reader, class Enough>
bool read_pieces(const OpenFile& file, uint64_t& begin, uint64_t end, Reader& reader,
                 const Stop& stop, const Enough& enough) {
  while (!stop.asked()) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(reader.wanted(), end - begin));
    if (!file.read(reader.room(size), size, begin)) return false;
    progress().add_bytes(size);
    begin += size;
    if (!reader.read(size, /*last=*/begin == file.size())) return false;
    if (begin == end || enough()) return true;
  }
  return true;
}

}  // namespace overlap_native
