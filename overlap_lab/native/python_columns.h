// Columns, texts and signals as Python has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string_view>

#include "column.h"
#include "interned.h"
#include "narrow_column.h"
#include "owned_memory.h"

namespace overlap_native {

namespace nb = nanobind;

/// The column's own memory as an array.
template <class Value>
nb::object taken(Column<Value>& column) {
  const size_t size = column.size();
  column.reserve(std::max<size_t>(size, 1));
  const Block block = column.release();
  auto* values = static_cast<Value*>(block.memory);
  return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values, {size}, owner_of(block)));
}

/// `errors`: what Python's decoder is to do with bytes that are not UTF-8.
inline nb::str decoded(std::string_view text, const char* errors = "replace") {
  const auto size = static_cast<Py_ssize_t>(text.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), size, errors));
}

inline nb::list decoded(const Interned& texts, const char* errors = "replace") {
  nb::list all;
  for (size_t code = 0; code < texts.size(); ++code) all.append(decoded(texts[code], errors));
  return all;
}

inline void ask_for_signals() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// An array of the narrowest type that holds the numbers.
inline nb::object taken(NarrowColumn& column) {
  const size_t size = column.size();
  const unsigned width = column.width();
  const Block block = column.release();
  const nb::capsule owner = owner_of(block);
  const auto array = [&](auto value) {
    using Value = decltype(value);
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(block.memory, {size}, owner));
  };
  if (width == 1) return array(uint8_t{});
  if (width == 2) return array(uint16_t{});
  return width == 4 ? array(uint32_t{}) : array(int64_t{});
}

}  // namespace overlap_native
