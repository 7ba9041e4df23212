#include "array_arguments.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>

#include "threads.h"

namespace nb = nanobind;

namespace overlap_native {

namespace {

Width width_of(nb::dlpack::dtype type) {
  const bool is_signed = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Int);
  const bool is_unsigned = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::UInt) ||
                           type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bool);
  if ((!is_signed && !is_unsigned) || type.lanes != 1) {
    throw nb::type_error("an array of integers is wanted");
  }
  switch (type.bits) {
    case 8:
      return is_signed ? Width::i8 : Width::u8;
    case 16:
      return is_signed ? Width::i16 : Width::u16;
    case 32:
      return is_signed ? Width::i32 : Width::u32;
    case 64:
      return is_signed ? Width::i64 : Width::u64;
    default:
      throw nb::type_error("an array of integers is wanted");
  }
}

}  // namespace

IntegerColumn integers_of(const AnyArray& array) {
  const Width width = width_of(array.dtype());
  const auto bytes = static_cast<std::ptrdiff_t>(array.itemsize());
  const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(array.stride(0)) * bytes;
  return {static_cast<const char*>(array.data()), array.shape(0) > 1 ? stride : bytes,
          array.shape(0), width};
}

std::vector<IntegerColumn> columns_of(const std::vector<AnyArray>& columns, size_t& size) {
  std::vector<IntegerColumn> all;
  size = columns.empty() ? 0 : columns.front().shape(0);
  for (const AnyArray& column : columns) {
    if (column.shape(0) != size) throw nb::value_error("columns differ in length");
    all.push_back(integers_of(column));
  }
  return all;
}

std::vector<KeyColumn> keys_of(const std::vector<AnyArray>& columns, uint64_t descending,
                               size_t& size) {
  std::vector<KeyColumn> keys;
  for (const IntegerColumn& column : columns_of(columns, size)) {
    const bool falls = (descending >> keys.size() & 1) != 0;
    keys.emplace_back(column, Rows{nullptr, column.size}, falls);
  }
  return keys;
}

void ask_for_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool all_within(const In<int32_t>& numbers, int64_t least, size_t size) {
  constexpr size_t kGrain = 1 << 18;
  std::atomic<bool> within{true};
  for_parts(numbers.size(), kGrain, [&](size_t begin, size_t end) {
    int32_t low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();
    for (size_t i = begin; i < end; ++i) {
      low = std::min(low, numbers.data()[i]);
      high = std::max(high, numbers.data()[i]);
    }
    if (begin < end && (low < least || high >= static_cast<int64_t>(size))) within = false;
  });
  return within;
}

}  // namespace overlap_native
