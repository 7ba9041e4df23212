#include "narrow_column.h"

#include <cstring>
#include <utility>

namespace overlap_native {

namespace {

unsigned width_of(uint64_t bits) {
  if (bits >> 32 != 0) return 8;
  if (bits >> 16 != 0) return 4;
  return bits >> 8 != 0 ? 2 : 1;
}

template <class To, class From>
void copy_as(const From* from, size_t count, To* to) {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

template <class From>
void copy_to_width(const From* from, size_t count, unsigned width, char* to) {
  if (width == 1) return copy_as(from, count, reinterpret_cast<uint8_t*>(to));
  if (width == 2) return copy_as(from, count, reinterpret_cast<uint16_t*>(to));
  if (width == 4) return copy_as(from, count, reinterpret_cast<uint32_t*>(to));
  copy_as(from, count, reinterpret_cast<int64_t*>(to));
}

}  // namespace

void NarrowColumn::append(const int64_t* values, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= static_cast<uint64_t>(values[i]);
  const unsigned needed = width_of(all);
  if (needed > width_) widen(needed);
  const size_t bytes = (size_ + count) * width_;
  bytes_.grow(bytes);
  copy_to_width(values, count, width_, bytes_.data() + size_ * width_);
  size_ += count;
}

void NarrowColumn::widen(unsigned width) {
  Column<char> wider;
  wider.grow(size_ * width);
  if (width_ == 1)
    copy_to_width(reinterpret_cast<const uint8_t*>(bytes_.data()), size_, width, wider.data());
  if (width_ == 2)
    copy_to_width(reinterpret_cast<const uint16_t*>(bytes_.data()), size_, width, wider.data());
  if (width_ == 4)
    copy_to_width(reinterpret_cast<const uint32_t*>(bytes_.data()), size_, width, wider.data());
  bytes_ = std::move(wider);
  width_ = width;
}

int64_t NarrowColumn::operator[](size_t i) const {
  uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + i * width_, width_);
  return static_cast<int64_t>(value);
}

Block NarrowColumn::release() {
  bytes_.reserve(bytes_.size() == 0 ? 1 : bytes_.size());
  size_ = 0;
  width_ = 1;
  return bytes_.release();
}

}  // namespace overlap_native
