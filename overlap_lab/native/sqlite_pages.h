// Pages of an SQLite database file, read as its published format says, without the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace overlap_native {

/// Bytes past the end of a read page that may be read too, and mean nothing.
constexpr size_t kPageSlack = 16;

/// A file of UTF-8 text with whole pages; anything else is not usable, and for SQLite to judge.
class PageFile {
 public:
  explicit PageFile(const std::string& path);
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile();

  bool usable() const { return pages_ != 0; }
  /// Pages are numbered from 1.
  uint32_t pages() const { return pages_; }
  size_t page_size() const { return page_size_; }
  /// Bytes of a page that hold content; the rest is reserved for extensions.
  size_t content_size() const { return content_size_; }
  /// Reads pages first, first + 1, ...; false where the file has not all of them.
  bool read(uint32_t first, size_t count, uint8_t* into) const;

 private:
  bool read_header();

  int file_ = -1;
  uint32_t pages_ = 0;
  size_t page_size_ = 0;
  size_t content_size_ = 0;
};

/// The leaf pages of a table, in the order of rows.
struct Leaves {
  std::vector<uint32_t> pages;
  std::vector<int64_t> last_rowids;  // no row of the page has a larger one
};

/// Finds the leaves of the table whose tree has this root; false for a tree that is none.
bool find_leaves(const PageFile& file, uint32_t root, Leaves& found);

/// Header of a page of a table's tree.
struct PageHeader {
  bool leaf;
  size_t cells;
  size_t size;

  /// False for a page of another kind, or whose cells cannot fit.
  static bool of(const uint8_t* page, size_t content_size, PageHeader& header);
  /// Where a cell begins; 0 where that is not behind the header.
  size_t cell(const uint8_t* page, size_t number, size_t content_size) const;
};

inline uint32_t big_endian(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

/// SQLite's variable-length integer; returns how many bytes it has, at most 9.
inline size_t varint(const uint8_t* at, uint64_t& value) {
  value = at[0];
  if (value < 0x80) return 1;
  value &= 0x7f;
  for (size_t i = 1; i < 8; ++i) {
    value = value << 7 | (at[i] & 0x7f);
    if (at[i] < 0x80) return i + 1;
  }
  value = value << 8 | at[8];
  return 9;
}

}  // namespace overlap_native
