#include "lane_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

#include "alike.h"
#include "array_arguments.h"
#include "interval_sets.h"
#include "lane_sweep.h"
#include "number_sort.h"
#include "sized_column.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

void need_within(const In<int32_t>& rows, int64_t least, size_t size) {
  if (!all_within(rows, least, size)) throw nb::value_error("ops or places that there are not");
}

TimedOps ops_of(const In<int64_t>& start, const In<int64_t>& end, const In<int64_t>& enqueue) {
  if (start.size() != end.size() || start.size() != enqueue.size()) {
    throw nb::value_error("columns of ops differ in length");
  }
  return {start.data(), end.data(), enqueue.data(), start.size()};
}

nb::tuple edges(const In<int64_t>& start, const In<int64_t>& end, const In<int64_t>& enqueue,
                const std::optional<In<int32_t>>& index) {
  const TimedOps ops = ops_of(start, end, enqueue);
  if (index) need_within(*index, 0, ops.size);
  const size_t size = index ? index->size() : ops.size;
  if (size == 0) throw nb::value_error("a lane has at least one op");
  LaneEdges found;
  {
    nb::gil_scoped_release released;
    found = lane_edges(ops, index ? index->data() : nullptr, size, ask_for_signals);
  }
  return nb::make_tuple(taken(found.start), taken(found.end), taken(found.next),
                        taken(found.previous));
}

std::vector<int64_t> busy(const In<int64_t>& start, const In<int64_t>& end,
                          const In<int32_t>& place, size_t places, int64_t first, int64_t last) {
  const TimedOps ops = ops_of(start, end, start);
  if (place.size() != ops.size) throw nb::value_error("a place for each op is wanted");
  need_within(place, 0, places);
  const nb::gil_scoped_release released;
  return busy_by_place(ops, place.data(), places, first, last, ask_for_signals);
}

nb::tuple touched(const In<int64_t>& enqueue, const In<int32_t>& op, const In<int32_t>& place,
                  const std::tuple<In<int64_t>, In<int64_t>, In<int64_t>>& queries, size_t places) {
  const auto& [low, high, limit] = queries;
  if (enqueue.size() != op.size() || low.size() != high.size() || low.size() != limit.size()) {
    throw nb::value_error("touched_places: columns differ in length");
  }
  need_within(place, 0, places);
  need_within(op, 0, place.size());
  for (size_t i = 0; i < low.size(); ++i) {
    if (low.data()[i] < 0 || high.data()[i] > static_cast<int64_t>(op.size())) {
      throw nb::value_error("touched_places: a range reaches out of the ops");
    }
  }
  Touched found;
  {
    nb::gil_scoped_release released;
    found = touched_places({enqueue.data(), op.data(), place.data()},
                           {low.data(), high.data(), limit.data(), low.size()}, places);
  }
  return nb::make_tuple(taken(found.query), taken(found.place));
}

nb::tuple grouped(const In<int32_t>& code, size_t count) {
  need_within(code, 0, count);
  Groups groups;
  {
    nb::gil_scoped_release released;
    groups = groups_of(code.data(), code.size(), count);
  }
  return nb::make_tuple(taken(groups.order), groups.edges);
}

Out<int32_t> flagged(const In<int32_t>& code, const In<uint8_t>& flags) {
  need_within(code, -1, flags.size());
  Column<int32_t> rows;
  {
    nb::gil_scoped_release released;
    rows = flagged_rows(code.data(), code.size(), flags.data());
  }
  return taken(rows);
}

std::vector<int64_t> lengths(const In<uint8_t>& code, const In<int64_t>& start,
                             const In<int64_t>& end, size_t count) {
  if (code.size() != start.size() || code.size() != end.size()) {
    throw nb::value_error("columns differ in length");
  }
  std::vector<int64_t> total(256, 0);
  {
    const nb::gil_scoped_release released;
    for (size_t i = 0; i < code.size(); ++i)
      total[code.data()[i]] += end.data()[i] - start.data()[i];
  }
  total.resize(count);
  return total;
}

int64_t shared(const In<int64_t>& a_start, const In<int64_t>& a_end, const In<int64_t>& b_start,
               const In<int64_t>& b_end) {
  if (a_start.size() != a_end.size() || b_start.size() != b_end.size()) {
    throw nb::value_error("starts and ends differ in length");
  }
  const Intervals a{a_start.data(), a_end.data(), a_start.size()};
  const Intervals b{b_start.data(), b_end.data(), b_start.size()};
  const nb::gil_scoped_release released;
  return a.size < b.size ? shared_length(b, a) : shared_length(a, b);
}

Out<int64_t> sorted(const In<int64_t>& values) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  Column<uint64_t> numbers = sized_column<uint64_t>(values.size());
  {
    const nb::gil_scoped_release released;
    for (size_t i = 0; i < values.size(); ++i) {
      numbers[i] = static_cast<uint64_t>(values.data()[i]) ^ kSign;
    }
    sort_numbers(numbers, /*low_bit=*/0, /*high_bit=*/64, ask_for_signals);
    for (size_t i = 0; i < values.size(); ++i) numbers[i] ^= kSign;
  }
  Column<int64_t> result;
  result.adopt(std::move(numbers));
  return taken(result);
}

/// Whether the rows are in the order of the columns, the first of which counts most.
bool in_order(const In<int64_t>& first, const std::optional<In<int64_t>>& second) {
  if (second && second->size() != first.size()) throw nb::value_error("columns differ in length");
  const nb::gil_scoped_release released;
  const int64_t *values = first.data(), *ties = second ? second->data() : nullptr;
  for (size_t i = 1; i < first.size(); ++i) {
    if (values[i - 1] > values[i]) return false;
    if (ties != nullptr && values[i - 1] == values[i] && ties[i - 1] > ties[i]) return false;
  }
  return true;
}

}  // namespace

void add_lanes(nb::module_& m) {
  m.def("lane_edges", &edges, "start"_a, "end"_a, "enqueue"_a, "index"_a.none());
  m.def("busy_by_place", &busy, "start"_a, "end"_a, "place"_a, "places"_a, "first"_a, "last"_a);
  m.def("touched_places", &touched, "enqueue"_a, "op"_a, "place"_a, "queries"_a, "places"_a);
  m.def("group_rows", &grouped, "code"_a, "count"_a);
  m.def("flagged_rows", &flagged, "code"_a, "flags"_a);
  m.def("lengths_by_code", &lengths, "code"_a, "start"_a, "end"_a, "count"_a);
  m.def("shared_length", &shared, "a_start"_a, "a_end"_a, "b_start"_a, "b_end"_a);
  m.def("sorted_numbers", &sorted, "values"_a);
  m.def("in_order", &in_order, "first"_a, "second"_a = nb::none());
}

}  // namespace overlap_native
