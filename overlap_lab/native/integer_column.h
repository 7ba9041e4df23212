// A column of integers of any width, as an array of Python lends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace overlap_native {

enum class Width : uint8_t { i8, i16, i32, i64, u8, u16, u32, u64 };

/// One value every `stride` bytes; stride 0 is the same value throughout.
struct IntegerColumn {
  const char* first;
  std::ptrdiff_t stride;
  size_t size;
  Width width;
};

/// The values of a column whose type is known.
template <class Value>
struct Values {
  using value_type = Value;
  const char* first;
  std::ptrdiff_t stride;
  Value operator[](size_t row) const {
    return *reinterpret_cast<const Value*>(first + static_cast<std::ptrdiff_t>(row) * stride);
  }
};

/// Calls `work` with the column's `Values`.
template <class Work>
auto with_values(const IntegerColumn& column, const Work& work) {
  const auto typed = [&](auto zero) {
    return work(Values<decltype(zero)>{column.first, column.stride});
  };
  switch (column.width) {
    case Width::i8:
      return typed(int8_t{});
    case Width::i16:
      return typed(int16_t{});
    case Width::i32:
      return typed(int32_t{});
    case Width::i64:
      return typed(int64_t{});
    case Width::u8:
      return typed(uint8_t{});
    case Width::u16:
      return typed(uint16_t{});
    case Width::u32:
      return typed(uint32_t{});
    default:
      return typed(uint64_t{});
  }
}

/// A number whose order as unsigned is the value's own.
template <class Value>
uint64_t unsigned_order(Value value) {
  if constexpr (std::is_signed_v<Value>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ (uint64_t{1} << 63);
  } else {
    return value;
  }
}

}  // namespace overlap_native
