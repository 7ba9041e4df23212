// A column of known length, to be written throughout.
#pragma once

#include <algorithm>

#include "column.h"

namespace overlap_native {

/// Its values are not set.
template <class Value>
Column<Value> sized_column(size_t size, Use use = Use::sized) {
  Column<Value> column;
  column.reserve(std::max<size_t>(size, 1), use);  // an array of nothing still wants an address
  column.set_size(size);
  return column;
}

}  // namespace overlap_native
