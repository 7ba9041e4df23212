// Rows of an SQLite table's leaf page: records in the format that SQLite publishes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "sqlite_pages.h"

namespace overlap_native {

/// Where a table keeps a column.
struct StoredColumn {
  int place;         // among the values of a record; kRowid for the row's own number
  bool has_default;  // which rows older than the column have instead of a value
};

constexpr int kRowid = -1;

enum class Stored : uint8_t { null, number, zero, one, rowid, real, text, blob, missing };

/// A value's type, and where in the record it is.
struct StoredValue {
  Stored type = Stored::null;
  uint8_t shift = 0;  // numbers: of the eight bytes from `offset`, whose last are not theirs
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// One record at a time; only the wanted columns are looked at.
class Record {
 public:
  Record(const PageFile& file, const std::vector<StoredColumn>& wanted);
  /// Goes to the row at `cell` of `page`, which has kPageSlack bytes behind it; false for anything
  /// that is no whole record.
  bool open(const uint8_t* page, size_t cell);

  Stored type(size_t column) const { return values_[column].type; }
  /// Whether it is an integer, and which.
  bool number(size_t column, int64_t& number) const {
    const StoredValue& value = values_[column];
    switch (value.type) {
      case Stored::number:
        number = static_cast<int64_t>(eight(value.offset)) >> value.shift;
        return true;
      case Stored::rowid:
        number = rowid_;
        return true;
      case Stored::zero:
      case Stored::one:
        number = value.type == Stored::one;
        return true;
      default:
        return false;
    }
  }
  double real(size_t column) const {
    const uint64_t bits = eight(values_[column].offset);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string_view bytes(size_t column) const {
    const StoredValue& value = values_[column];
    return {reinterpret_cast<const char*>(body_) + value.offset, value.size};
  }

 private:
  struct Place {
    int place;
    size_t column;
  };

  /// What a header says. Rows of several shapes take turns, mostly of different sizes.
  struct Shape {
    std::vector<StoredValue> values;
    uint64_t payload = 0;
    uint64_t needed = 0;  // bytes of the record up to the last wanted value
    size_t size = 0;      // of the header; 0: none is kept
    std::array<uint8_t, 64> header{};
  };
  static constexpr size_t kShapes = 16;

  uint64_t eight(size_t offset) const {
    uint64_t raw;
    std::memcpy(&raw, body_ + offset, sizeof raw);
    return __builtin_bswap64(raw);
  }
  bool parse(const uint8_t* header, size_t size);
  /// Whether the header is the one that the shape is of.
  bool has(const Shape& shape, const uint8_t* header) const;
  void keep_header(const uint8_t* header, size_t size);
  bool gather(const uint8_t* local, size_t size, uint64_t wanted, uint32_t overflow);

  const PageFile& file_;
  std::vector<Place> order_;  // the wanted values as a record has them
  std::array<Shape, kShapes> shapes_;
  size_t shape_ = 0;                     // of the row
  const StoredValue* values_ = nullptr;  // of that shape
  const uint8_t* body_ = nullptr;
  int64_t rowid_ = 0;
  uint64_t payload_ = 0;
  std::vector<uint8_t> gathered_;
  std::vector<uint8_t> page_;
};

}  // namespace overlap_native
