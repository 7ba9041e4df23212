#include "sqlite_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "progress.h"

namespace overlap_native {

namespace {

constexpr size_t kFileHeader = 100;
constexpr char kMagic[] = "SQLite format 3";  // and the zero byte behind it
constexpr uint8_t kInterior = 5;
constexpr uint8_t kLeaf = 13;
constexpr size_t kSmallestCell = 4;
constexpr int kDeepest = 20;  // as SQLite has it

bool read_all(int file, uint8_t* into, size_t size, uint64_t at) {
  while (size != 0) {
    const ssize_t got = pread(file, into, size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    progress().add_bytes(static_cast<uint64_t>(got));
    into += got;
    size -= static_cast<size_t>(got);
    at += static_cast<uint64_t>(got);
  }
  return true;
}

/// Walks the interior pages of one tree.
class Walk {
 public:
  Walk(const PageFile& file, Leaves& found) : file_(file), found_(found) {}

  bool from(uint32_t root) {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    if (!find_depth(root)) return false;
    return depth_ == 0 ? add(root, kLargest) : children(root, 0, kLargest);
  }

 private:
  /// All leaves are equally deep, so that none needs to be read to tell that it is one.
  bool find_depth(uint32_t page) {
    std::vector<uint8_t> bytes(file_.page_size() + kPageSlack);
    for (depth_ = 0; depth_ < kDeepest; ++depth_) {
      PageHeader header{};
      if (!file_.read(page, 1, bytes.data()) ||
          !PageHeader::of(bytes.data(), file_.content_size(), header)) {
        return false;
      }
      if (header.leaf) return true;
      if (header.cells == 0) return false;
      const size_t cell = header.cell(bytes.data(), 0, file_.content_size());
      if (cell == 0) return false;
      page = big_endian(bytes.data() + cell, 4);
    }
    return false;
  }

  bool children(uint32_t page, int depth, int64_t last_rowid) {
    std::vector<uint8_t> bytes(file_.page_size() + kPageSlack);
    PageHeader header{};
    if (!file_.read(page, 1, bytes.data()) ||
        !PageHeader::of(bytes.data(), file_.content_size(), header) || header.leaf ||
        header.cells == 0) {
      return false;
    }
    for (size_t number = 0; number < header.cells; ++number) {
      const size_t cell = header.cell(bytes.data(), number, file_.content_size());
      uint64_t key = 0;
      if (cell == 0 || cell + 4 + varint(bytes.data() + cell + 4, key) > file_.content_size()) {
        return false;
      }
      const auto rowid = static_cast<int64_t>(key);
      if (rowid > last_rowid || !child(big_endian(bytes.data() + cell, 4), depth + 1, rowid)) {
        return false;
      }
    }
    return child(big_endian(bytes.data() + 8, 4), depth + 1, last_rowid);
  }

  bool child(uint32_t page, int depth, int64_t last_rowid) {
    return depth == depth_ ? add(page, last_rowid) : children(page, depth, last_rowid);
  }

  bool add(uint32_t page, int64_t last_rowid) {
    if (page == 0 || page > file_.pages() || found_.pages.size() == file_.pages()) return false;
    if (!found_.last_rowids.empty() && last_rowid <= found_.last_rowids.back()) return false;
    found_.pages.push_back(page);
    found_.last_rowids.push_back(last_rowid);
    return true;
  }

  const PageFile& file_;
  Leaves& found_;
  int depth_ = 0;
};

}  // namespace

PageFile::PageFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ >= 0 && !read_header()) pages_ = 0;
}

PageFile::~PageFile() {
  if (file_ >= 0) close(file_);
}

bool PageFile::read_header() {
  uint8_t header[kFileHeader];
  struct stat status{};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode) ||
      !read_all(file_, header, sizeof header, 0) ||
      std::memcmp(header, kMagic, sizeof kMagic) != 0) {
    return false;
  }
  page_size_ = big_endian(header + 16, 2);
  if (page_size_ == 1) page_size_ = 65536;
  const bool power = (page_size_ & (page_size_ - 1)) == 0;
  const bool known = header[19] == 1 || header[19] == 2;  // rollback journal or write-ahead log
  const bool fractions = header[21] == 64 && header[22] == 32 && header[23] == 32;
  const bool utf8 = big_endian(header + 56, 4) == 1;
  if (page_size_ < 512 || !power || !known || !fractions || !utf8) return false;
  content_size_ = page_size_ - header[20];
  if (content_size_ < 480) return false;
  const uint64_t held = static_cast<uint64_t>(status.st_size) / page_size_;
  const bool counted = std::memcmp(header + 24, header + 92, 4) == 0;
  const uint64_t said = big_endian(header + 28, 4);
  const uint64_t pages = counted && said != 0 ? std::min(said, held) : held;
  pages_ = static_cast<uint32_t>(std::min<uint64_t>(pages, 0xfffffffe));
  return true;
}

bool PageFile::read(uint32_t first, size_t count, uint8_t* into) const {
  if (first == 0 || first + uint64_t{count} - 1 > pages_) return false;
  return read_all(file_, into, count * page_size_, (first - uint64_t{1}) * page_size_);
}

bool PageHeader::of(const uint8_t* page, size_t content_size, PageHeader& header) {
  if (page[0] != kLeaf && page[0] != kInterior) return false;
  header.leaf = page[0] == kLeaf;
  header.cells = big_endian(page + 3, 2);
  header.size = header.leaf ? 8 : 12;
  return header.size + header.cells * (2 + kSmallestCell) <= content_size;
}

size_t PageHeader::cell(const uint8_t* page, size_t number, size_t content_size) const {
  const size_t at = big_endian(page + size + 2 * number, 2);
  return at < size + 2 * cells || at + kSmallestCell > content_size ? 0 : at;
}

bool find_leaves(const PageFile& file, uint32_t root, Leaves& found) {
  return file.usable() && root > 1 && Walk(file, found).from(root);
}

}  // namespace overlap_native
