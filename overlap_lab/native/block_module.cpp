#include "block_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "alike_rows.h"
#include "array_arguments.h"
#include "block_order.h"
#include "block_rows.h"
#include "sized_column.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

nb::tuple alike_codes(const std::vector<In<int32_t>>& columns,
                      const std::vector<uint64_t>& counts) {
  if (columns.empty() || columns.size() != counts.size()) {
    throw std::invalid_argument("alike_codes: a count per column is wanted");
  }
  std::vector<CodeColumn> all;
  double span = 1;
  for (size_t at = 0; at < columns.size(); ++at) {
    if (columns[at].size() != columns[0].size()) {
      throw std::invalid_argument("alike_codes: columns differ in length");
    }
    all.push_back({columns[at].data(), counts[at]});
    span *= static_cast<double>(counts[at]) + 1;
  }
  if (span >= 9e18) throw std::invalid_argument("alike_codes: too many codes");
  AlikeRows found;
  {
    nb::gil_scoped_release released;
    found = alike_rows(all, columns[0].size());
  }
  return nb::make_tuple(taken(found.first), taken(found.place));
}

using MaybeCodes = std::optional<In<int32_t>>;

RowBlock row_block(const AnyArray& values, const MaybeCodes& codes) {
  const IntegerColumn column = integers_of(values);
  if (!codes) return {column, nullptr, column.size};
  int32_t low = 0, high = -1;
  for (size_t row = 0; row < codes->size(); ++row) {
    low = std::min(low, codes->data()[row]);
    high = std::max(high, codes->data()[row]);
  }
  if (low < 0 || high >= static_cast<int64_t>(column.size)) {
    throw nb::index_error("scatter: a code without a value");
  }
  return {column, codes->data(), codes->size()};
}

/// Into an array that is there, as the caller knows its type.
void scatter_blocks(const nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>& into,
                    const std::vector<AnyArray>& values, const std::vector<MaybeCodes>& codes,
                    const In<uint32_t>& places) {
  if (values.size() != codes.size())
    throw std::invalid_argument("scatter: codes or None per block");
  std::vector<RowBlock> blocks;
  size_t size = 0;
  for (size_t at = 0; at < values.size(); ++at) {
    blocks.push_back(row_block(values[at], codes[at]));
    size += blocks.back().size;
  }
  if (size != into.size() || size != places.size()) {
    throw std::invalid_argument("scatter: a place for each row of the blocks is wanted");
  }
  const Width width = integers_of(AnyArray(into)).width;
  nb::gil_scoped_release released;
  scatter(blocks, places.data(), into.data(), width);
}

Out<uint8_t> kept_bytes(size_t size) {
  Column<uint8_t> bytes = sized_column<uint8_t>(size, Use::kept);
  return taken(bytes);
}

nb::tuple coded_numbers(const AnyArray& array) {
  const IntegerColumn column = integers_of(array);
  CodedColumn found;
  {
    nb::gil_scoped_release released;
    found = coded_column(column);
  }
  return nb::make_tuple(taken(found.codes), taken(found.values));
}

Out<int64_t> distinct_numbers(const AnyArray& array) {
  const IntegerColumn column = integers_of(array);
  Column<int64_t> found;
  {
    nb::gil_scoped_release released;
    found = distinct_values(column);
  }
  return taken(found);
}

/// None where the starts are too far apart for that many rows.
nb::object ordered_blocks(const std::vector<In<int64_t>>& start_ns,
                          const std::vector<In<int64_t>>& end_ns) {
  if (start_ns.size() != end_ns.size()) throw std::invalid_argument("block_order: ends per start");
  std::vector<TimedBlock> blocks;
  for (size_t at = 0; at < start_ns.size(); ++at) {
    if (start_ns[at].size() != end_ns[at].size()) {
      throw std::invalid_argument("block_order: columns differ in length");
    }
    blocks.push_back({start_ns[at].data(), end_ns[at].data(), start_ns[at].size()});
  }
  BlockOrder found;
  bool done = false;
  {
    nb::gil_scoped_release released;
    done = block_order(blocks, ask_for_signals, found);
  }
  if (!done) return nb::none();
  return nb::make_tuple(taken(found.order), taken(found.place), taken(found.start_ns),
                        taken(found.end_ns));
}

bool are_times(const In<int64_t>& start_ns, const In<int64_t>& end_ns, int64_t earliest,
               int64_t latest, int64_t longest) {
  if (start_ns.size() != end_ns.size()) {
    throw std::invalid_argument("times_fit: columns differ in length");
  }
  nb::gil_scoped_release released;
  return times_fit(start_ns.data(), end_ns.data(), start_ns.size(), {earliest, latest, longest});
}

}  // namespace

void add_blocks(nb::module_& m) {
  m.def("alike_codes", &alike_codes, "columns"_a, "counts"_a);
  m.def("block_order", &ordered_blocks, "start_ns"_a, "end_ns"_a);
  m.def("scatter", &scatter_blocks, "into"_a, "values"_a, "codes"_a, "places"_a);
  m.def("kept_bytes", &kept_bytes, "size"_a);
  m.def("coded_numbers", &coded_numbers, "column"_a);
  m.def("distinct_numbers", &distinct_numbers, "column"_a);
  m.def("times_fit", &are_times, "start_ns"_a, "end_ns"_a, "earliest"_a, "latest"_a, "longest"_a);
}

}  // namespace overlap_native
