// A growing array of plain values that Python can take over without a copy.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace overlap_native {

/// Lets the system back large memory with large pages: the first touches of small ones would take
/// as long as parsing what is written there.
inline void prefer_large_pages(void* memory, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = 1 << 12;
  constexpr size_t kLarge = 1 << 22;
  if (bytes < kLarge) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPage - 1);
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: may be refused
#else
  (void)memory, (void)bytes;
#endif
}

/// Grows by realloc: for large blocks the system moves pages instead of copying bytes, and pages
/// that were never written cost no memory.
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
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { std::free(values_); }

  void push(Value value) {
    if (size_ == capacity_) reserve(capacity_ < 512 ? 1024 : capacity_ * 2);
    values_[size_++] = value;
  }
  void append(const Value* values, size_t count) {
    if (count == 0) return;
    if (size_ + count > capacity_) reserve((size_ + count) * 2);
    std::memcpy(values_ + size_, values, count * sizeof(Value));
    size_ += count;
  }
  void reserve(size_t capacity) {
    void* grown = std::realloc(values_, capacity * sizeof(Value));
    if (grown == nullptr) throw std::bad_alloc();
    values_ = static_cast<Value*>(grown);
    capacity_ = capacity;
    prefer_large_pages(values_, capacity * sizeof(Value));
  }
  /// Room for `count` values that are then written through `data()` and claimed by `set_size`.
  void hold(size_t count) {
    if (count > capacity_) reserve(count);
  }
  void set_size(size_t size) { size_ = size; }
  /// Claim `size` values, the new ones to be written through `data()`.
  void grow(size_t size) {
    if (size > capacity_) reserve(size * 2);
    size_ = size;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  const Value* data() const { return values_; }
  Value* data() { return values_; }
  Value& operator[](size_t i) { return values_[i]; }
  Value operator[](size_t i) const { return values_[i]; }

  /// Takes over memory that `malloc` or `realloc` gave.
  void adopt(Value* values, size_t size) {
    std::free(values_);
    values_ = values;
    size_ = capacity_ = size;
  }

  /// The memory, to be freed with `free`; the column is empty afterwards.
  Value* release() {
    size_ = capacity_ = 0;
    return std::exchange(values_, nullptr);
  }

 private:
  Value* values_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace overlap_native
