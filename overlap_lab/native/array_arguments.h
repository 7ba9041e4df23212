// Arrays between Python and the functions on columns.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <functional>
#include <vector>

#include "column.h"
#include "integer_column.h"
#include "key_column.h"
#include "owned_memory.h"

namespace overlap_native {

using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::ndim<1>, nanobind::device::cpu>;
template <class Value>
using In =
    nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class Value>
using Out = nanobind::ndarray<nanobind::numpy, Value, nanobind::ndim<1>>;

/// Throws TypeError for an array of anything but integers.
IntegerColumn integers_of(const AnyArray& array);

/// All of one length, which `size` is set to.
std::vector<IntegerColumn> columns_of(const std::vector<AnyArray>& columns, size_t& size);
std::vector<KeyColumn> keys_of(const std::vector<AnyArray>& columns, uint64_t descending,
                               size_t& size);

/// Whether each number is `least` or more, and below `size`.
bool all_within(const In<int32_t>& numbers, int64_t least, size_t size);

/// Lets Ctrl-C end a long job; called with the interpreter lock free.
void ask_for_signals();

/// The column's own memory as an array.
template <class Value>
Out<Value> taken(Column<Value>& column) {
  const size_t size = column.size();
  const Block block = column.release();
  return {static_cast<Value*>(block.memory), {size}, owner_of(block)};
}

}  // namespace overlap_native
