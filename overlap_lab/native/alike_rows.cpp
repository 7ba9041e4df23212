#include "alike_rows.h"

#include "number_codes.h"

namespace overlap_native {

namespace {

constexpr uint64_t kDense = 1 << 20;

/// Gives numbers below `span` a place each, those of a small span by table.
class Places {
 public:
  explicit Places(uint64_t span) : table_(span <= kDense ? span : 0, -1) {}
  int32_t of(uint64_t key) {
    if (table_.empty()) return sparse_.code_of(static_cast<int64_t>(key));
    int32_t& place = table_[key];
    if (place < 0) place = found_++;
    return place;
  }

 private:
  std::vector<int32_t> table_;
  NumberCodes sparse_;
  int32_t found_ = 0;
};

}  // namespace

AlikeRows alike_rows(const std::vector<CodeColumn>& columns, size_t rows) {
  AlikeRows found;
  found.place.hold(rows + 1);
  found.place.set_size(rows);
  uint64_t span = 1;
  for (const CodeColumn& column : columns) span *= column.count + 1;
  Places places(span);
  for (size_t row = 0; row < rows; ++row) {
    uint64_t key = 0;
    for (const CodeColumn& column : columns) {
      key = key * (column.count + 1) + static_cast<uint64_t>(column.codes[row] + 1);
    }
    const int32_t place = places.of(key);
    found.place[row] = place;
    if (static_cast<size_t>(place) == found.first.size()) {
      found.first.push(static_cast<int64_t>(row));
    }
  }
  return found;
}

}  // namespace overlap_native
