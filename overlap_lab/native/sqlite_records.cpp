#include "sqlite_records.h"

#include <algorithm>
#include <limits>

namespace overlap_native {

namespace {

constexpr uint64_t kLargestRecord = 1000000000;  // as SQLite has it where nobody changed it
constexpr size_t kLink = 4;                      // bytes of the number of the next overflow page
constexpr uint64_t kFirstText = 12;

/// Bytes of a record that lie in the leaf page itself.
size_t local_size(uint64_t payload, size_t content_size) {
  const size_t largest = content_size - 35;
  if (payload <= largest) return payload;
  const size_t smallest = (content_size - 12) * 32 / 255 - 23;
  const size_t size = smallest + (payload - smallest) % (content_size - kLink);
  return size <= largest ? size : smallest;
}

/// What a serial type says; false for one that no record has.
bool described(uint64_t serial, uint64_t offset, StoredValue& value) {
  constexpr uint8_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8};
  value.offset = static_cast<uint32_t>(offset);
  if (serial >= kFirstText) {
    value.type = serial & 1 ? Stored::text : Stored::blob;
    const uint64_t size = (serial - kFirstText) / 2;
    value.size = static_cast<uint32_t>(std::min(size, kLargestRecord + 1));
    return true;
  }
  value.size = serial < 8 ? kSizes[serial] : 0;
  value.type = serial == 0 ? Stored::null : serial == 7 ? Stored::real : Stored::number;
  if (serial == 8) value.type = Stored::zero;
  if (serial == 9) value.type = Stored::one;
  value.shift = static_cast<uint8_t>(64 - 8 * std::max<uint32_t>(value.size, 1));
  return serial < 10;
}

}  // namespace

Record::Record(const PageFile& file, const std::vector<StoredColumn>& wanted) : file_(file) {
  for (Shape& shape : shapes_) shape.values.resize(wanted.size());
  values_ = shapes_[shape_].values.data();
  for (size_t column = 0; column < wanted.size(); ++column) {
    if (wanted[column].place == kRowid) {
      for (Shape& shape : shapes_) shape.values[column].type = Stored::rowid;
    } else {
      order_.push_back({wanted[column].place, column});
    }
  }
  std::sort(order_.begin(), order_.end(),
            [](const Place& a, const Place& b) { return a.place < b.place; });
}

bool Record::open(const uint8_t* page, size_t cell) {
  const size_t content = file_.content_size();
  uint64_t rowid = 0;
  size_t at = cell + varint(page + cell, payload_);
  if (at > content) return false;
  at += varint(page + at, rowid);
  rowid_ = static_cast<int64_t>(rowid);
  if (payload_ == 0 || payload_ > kLargestRecord || at >= content) return false;
  const size_t local = local_size(payload_, content);
  const bool overflows = local < payload_;
  if (at + local + (overflows ? kLink : 0) > content) return false;
  body_ = page + at;
  const uint32_t overflow = overflows ? big_endian(body_ + local, kLink) : 0;
  shape_ = payload_ % kShapes;
  const Shape& shape = shapes_[shape_];
  values_ = shape.values.data();
  if (!has(shape, body_)) {
    uint64_t size = 0;
    varint(body_, size);
    if (size > payload_) return false;
    if (size > local && !gather(page + at, local, size, overflow)) return false;
    if (!parse(body_, size)) return false;
    keep_header(body_, size);
  }
  return shape.needed <= local || gather(page + at, local, shape.needed, overflow);
}

bool Record::has(const Shape& shape, const uint8_t* header) const {
  return shape.size != 0 && payload_ == shape.payload &&
         std::memcmp(header, shape.header.data(), shape.size) == 0;
}

void Record::keep_header(const uint8_t* header, size_t size) {
  Shape& shape = shapes_[shape_];
  shape.size = size <= shape.header.size() && body_ != gathered_.data() ? size : 0;
  if (shape.size != 0) std::memcpy(shape.header.data(), header, size);
  shape.payload = payload_;
}

bool Record::parse(const uint8_t* header, size_t size) {
  uint64_t serial = 0;
  size_t at = varint(header, serial);  // the size itself
  uint64_t offset = size;
  auto next = order_.begin();
  Shape& shape = shapes_[shape_];
  shape.size = 0;
  if (at > size) return false;
  for (int place = 0; next != order_.end() && at < size; ++place) {
    at += varint(header + at, serial);
    StoredValue value;
    if (at > size || !described(serial, offset, value)) return false;
    for (; next != order_.end() && next->place == place; ++next) shape.values[next->column] = value;
    offset += value.size;
    if (offset > payload_) return false;
  }
  if (at == size && offset != payload_) return false;
  for (; next != order_.end(); ++next) shape.values[next->column].type = Stored::missing;
  shape.needed = offset;
  return true;
}

bool Record::gather(const uint8_t* local, size_t size, uint64_t wanted, uint32_t overflow) {
  if (wanted > uint64_t{file_.pages()} * file_.page_size()) return false;  // pages in a circle
  gathered_.assign(local, local + size);
  page_.resize(file_.page_size() + kPageSlack);
  while (gathered_.size() < wanted) {
    if (overflow == 0 || !file_.read(overflow, 1, page_.data())) return false;
    overflow = big_endian(page_.data(), kLink);
    const size_t more =
        std::min<uint64_t>(file_.content_size() - kLink, payload_ - gathered_.size());
    gathered_.insert(gathered_.end(), page_.data() + kLink, page_.data() + kLink + more);
  }
  gathered_.insert(gathered_.end(), kPageSlack, 0);
  body_ = gathered_.data();
  return true;
}

}  // namespace overlap_native
