// A growing array of plain values that Python can take over without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "memory.h"

namespace overlap_native {

/// Where it is large it grows by moving pages instead of copying bytes, and pages that were never
/// written cost no memory.
template <class Value>
class Column {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&& other) noexcept
      : values_(std::exchange(other.values_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        block_(std::exchange(other.block_, {})) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~Column() { give_back(block_); }

  void push(Value value) {
    if (size_ == capacity_) reserve(capacity_ < 512 ? 1024 : capacity_ * 2, Use::grows);
    values_[size_++] = value;
  }
  void append(const Value* values, size_t count) {
    if (count == 0) return;
    if (size_ + count > capacity_) reserve((size_ + count) * 2, Use::grows);
    std::memcpy(values_ + size_, values, count * sizeof(Value));
    size_ += count;
  }
  /// Room for so many values: not less, and not more where that saves memory.
  void reserve(size_t capacity, Use use = Use::sized) {
    resize(block_, capacity * sizeof(Value), use);
    values_ = static_cast<Value*>(block_.memory);
    capacity_ = capacity;
  }
  /// Room for `count` values that are then written through `data()` and claimed by `set_size`.
  void hold(size_t count) {
    if (count > capacity_) reserve(count);
  }
  void set_size(size_t size) { size_ = size; }
  /// Claim `size` values, the new ones to be written through `data()`.
  void grow(size_t size) {
    if (size > capacity_) reserve(size * 2, Use::grows);
    size_ = size;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  const Value* data() const { return values_; }
  Value* data() { return values_; }
  Value& operator[](size_t i) { return values_[i]; }
  Value operator[](size_t i) const { return values_[i]; }

  /// Takes over the memory of another column, whose values are as wide.
  template <class Other>
  void adopt(Column<Other>&& other) {
    static_assert(sizeof(Other) == sizeof(Value));
    const size_t size = other.size();
    Column mine;
    mine.block_ = other.release();
    mine.values_ = static_cast<Value*>(mine.block_.memory);
    mine.size_ = size;
    mine.capacity_ = mine.block_.bytes / sizeof(Value);
    *this = std::move(mine);
  }

  /// The memory, of one value at least; the column is empty afterwards.
  Block release() {
    if (values_ == nullptr) reserve(1);  // an array of nothing still wants an address
    values_ = nullptr;
    size_ = capacity_ = 0;
    return std::exchange(block_, {});
  }

 private:
  Value* values_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  Block block_;
};

}  // namespace overlap_native
