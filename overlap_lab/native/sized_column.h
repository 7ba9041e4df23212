// A column of known length, to be written throughout.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "column.h"

namespace overlap_native {

/// Its values are not set. Large ones ask the system for large pages: a fresh page costs as much as
/// the work on it, and one of 2 MB little more than one of 4 KB.
template <class Value>
Column<Value> sized_column(size_t size) {
  constexpr size_t kPage = 4096, kWorthwhile = size_t{1} << 22;
  Column<Value> column;
  column.hold(std::max<size_t>(size, 1));  // an array of nothing still wants an address
  column.set_size(size);
  if (size * sizeof(Value) >= kWorthwhile) {
    const auto begin = reinterpret_cast<uintptr_t>(column.data()) / kPage * kPage + kPage;
    const auto end = reinterpret_cast<uintptr_t>(column.data() + size) / kPage * kPage;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice only
  }
  return column;
}

}  // namespace overlap_native
