#include "array_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "array_arguments.h"
#include "callers.h"
#include "codes.h"
#include "enclosing.h"
#include "grouping.h"
#include "interval_sets.h"
#include "lookup.h"
#include "ordering.h"
#include "pairing.h"
#include "sized_column.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

Intervals intervals_of(const In<int64_t>& start, const In<int64_t>& end) {
  if (start.size() != end.size()) throw nb::value_error("starts and ends differ in length");
  return {start.data(), end.data(), start.size()};
}

Out<int64_t> order(const std::vector<AnyArray>& columns, uint64_t descending) {
  Column<int64_t> result;
  {
    nb::gil_scoped_release released;
    size_t size = 0;
    const auto keys = keys_of(columns, descending, size);
    result = ordered(keys, size, ask_for_signals);
  }
  return taken(result);
}

Out<int64_t> codes(const std::vector<AnyArray>& columns) {
  Column<int64_t> result;
  {
    nb::gil_scoped_release released;
    size_t size = 0;
    const auto integers = columns_of(columns, size);
    result = dense_codes(integers, {nullptr, size}, ask_for_signals);
  }
  return taken(result);
}

Out<int64_t> distinct(const std::vector<AnyArray>& columns) {
  Column<int64_t> result;
  {
    nb::gil_scoped_release released;
    size_t size = 0;
    const auto integers = columns_of(columns, size);
    result = distinct_rows(integers, {nullptr, size}, ask_for_signals);
  }
  return taken(result);
}

Out<int64_t> found_positions(const In<int64_t>& sorted, const In<int64_t>& asked, Side side) {
  Column<int64_t> found = sized_column<int64_t>(asked.size());
  {
    nb::gil_scoped_release released;
    positions(sorted.data(), sorted.size(), asked.data(), asked.size(), side, found.data());
  }
  return taken(found);
}

Out<int64_t> found_below(const In<int64_t>& values, const In<int64_t>& low, const In<int64_t>& high,
                         const In<int64_t>& limit) {
  if (low.size() != high.size() || low.size() != limit.size()) {
    throw nb::value_error("low, high and limit differ in length");
  }
  const auto size = static_cast<int64_t>(values.size());
  if (bounds_of(low.data(), low.size()).least < 0 ||
      bounds_of(high.data(), high.size()).most > size ||
      bounds_of(low.data(), low.size()).most > size) {
    throw nb::value_error("a range reaches out of the values");
  }
  Column<int64_t> found = sized_column<int64_t>(low.size());
  {
    nb::gil_scoped_release released;
    last_below(values.data(), values.size(), {low.data(), high.data(), limit.data(), low.size()},
               found.data());
  }
  return taken(found);
}

Out<bool> members(const AnyArray& column, uint64_t members) {
  const IntegerColumn integers = integers_of(column);
  Column<bool> found = sized_column<bool>(integers.size);
  {
    nb::gil_scoped_release released;
    are_members(integers, members, found.data());
  }
  return taken(found);
}

template <class Row>
nb::object gathered_by(const IntegerColumn& integers, const In<Row>& rows) {
  return with_values(integers, [&](auto values) {
    using Value = typename decltype(values)::value_type;
    Column<Value> into = sized_column<Value>(rows.size());
    {
      nb::gil_scoped_release released;
      gather(values, integers.size, rows.data(), into);
    }
    return nb::cast(taken(into));
  });
}

nb::object gathered(const AnyArray& column, const AnyArray& rows) {
  const IntegerColumn integers = integers_of(column);
  if (integers_of(rows).width == Width::i32) {
    return gathered_by(integers, nb::cast<In<int32_t>>(nb::cast(rows)));
  }
  return gathered_by(integers, nb::cast<In<int64_t>>(nb::cast(rows)));
}

Out<int64_t> member_rows(const AnyArray& column, uint64_t members) {
  Column<int64_t> rows;
  {
    nb::gil_scoped_release released;
    rows = rows_among(integers_of(column), members);
  }
  return taken(rows);
}

Out<int64_t> folded(const In<int64_t>& group, const In<int64_t>& value, size_t groups, Fold fold,
                    int64_t initial) {
  if (group.size() != value.size()) throw nb::value_error("groups and values differ in length");
  Column<int64_t> into = sized_column<int64_t>(groups);
  {
    nb::gil_scoped_release released;
    const Bounds bounds = bounds_of(group.data(), group.size());
    if (bounds.least < 0 || bounds.most >= static_cast<int64_t>(groups)) {
      throw std::out_of_range("fold_groups: a group is out of range");
    }
    std::fill(into.data(), into.data() + groups, initial);
    fold_groups(group.data(), value.data(), group.size(), fold, into.data());
  }
  return taken(into);
}

Out<int64_t> earlier_reach(const In<int64_t>& stream, const In<int64_t>& enqueue,
                           const In<int64_t>& end) {
  if (stream.size() != enqueue.size() || stream.size() != end.size()) {
    throw nb::value_error("reach_before: columns differ in length");
  }
  Column<int64_t> reach = sized_column<int64_t>(end.size());
  {
    nb::gil_scoped_release released;
    const Bounds bounds = bounds_of(stream.data(), stream.size());
    if (bounds.least < 0 || bounds.most >= static_cast<int64_t>(stream.size())) {
      throw std::out_of_range("reach_before: a stream is out of range");
    }
    const IntegerColumn times{reinterpret_cast<const char*>(enqueue.data()), sizeof(int64_t),
                              enqueue.size(), Width::i64};
    const KeyColumn key(times, {nullptr, enqueue.size()}, /*descending=*/false);
    const Column<int64_t> by_enqueue = ordered({key}, enqueue.size(), ask_for_signals);
    reach_before({stream.data(), enqueue.data(), end.data(), end.size(),
                  static_cast<size_t>(bounds.most + 1)},
                 by_enqueue, reach.data());
  }
  return taken(reach);
}

nb::tuple taken(IntervalSet& set) { return nb::make_tuple(taken(set.start), taken(set.end)); }

nb::tuple joined(const In<int64_t>& start, const In<int64_t>& end) {
  const Intervals intervals = intervals_of(start, end);
  IntervalSet set;
  {
    nb::gil_scoped_release released;
    set = union_of(intervals, ask_for_signals);
  }
  return taken(set);
}

template <IntervalSet (*combine)(const Intervals&, const Intervals&)>
nb::tuple combined(const In<int64_t>& a_start, const In<int64_t>& a_end, const In<int64_t>& b_start,
                   const In<int64_t>& b_end) {
  const Intervals a = intervals_of(a_start, a_end), b = intervals_of(b_start, b_end);
  IntervalSet set;
  {
    nb::gil_scoped_release released;
    set = combine(a, b);
  }
  return taken(set);
}

Out<int64_t> paired_calls(const std::vector<AnyArray>& keys, const In<int64_t>& start_ns,
                          const In<int64_t>& rows, size_t calls) {
  size_t size = 0;
  const auto columns = columns_of(keys, size);
  const Bounds bounds = bounds_of(rows.data(), rows.size());
  if (size != start_ns.size() || calls > rows.size() || bounds.least < 0 ||
      bounds.most >= static_cast<int64_t>(size)) {
    throw nb::value_error("calls_of_ops: rows that the columns do not have");
  }
  Column<int64_t> found;
  {
    nb::gil_scoped_release released;
    found = calls_of_ops({columns, start_ns.data(), {rows.data(), rows.size()}, calls},
                         ask_for_signals);
  }
  return taken(found);
}

Out<int64_t> callers(const In<uint8_t>& kind, const In<uint64_t>& correlation, const AnyArray& part,
                     const In<int32_t>& process, const In<int64_t>& start_ns,
                     const In<int64_t>& wanted, CallKind call,
                     const std::optional<In<uint32_t>>& added) {
  const size_t size = kind.size();
  const IntegerColumn parts = integers_of(part);
  if (correlation.size() != size || parts.size != size || process.size() != size ||
      start_ns.size() != size || (added && added->size() != size)) {
    throw nb::value_error("callers_of: columns differ in length");
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted.data()[i] < 0 || wanted.data()[i] >= static_cast<int64_t>(size)) {
      throw nb::value_error("callers_of: rows that the columns do not have");
    }
  }
  Column<int64_t> found;
  {
    nb::gil_scoped_release released;
    found = callers_of({kind.data(), correlation.data(), parts, process.data(), start_ns.data(),
                        size, added ? added->data() : nullptr},
                       call, wanted.data(), wanted.size());
  }
  return taken(found);
}

Out<int64_t> outer_intervals(const In<int64_t>& group, const In<int64_t>& start,
                             const In<int64_t>& end) {
  if (group.size() != start.size()) throw nb::value_error("groups and starts differ in length");
  const Intervals intervals = intervals_of(start, end);
  Column<int64_t> found;
  {
    nb::gil_scoped_release released;
    found =
        outermost({group.data(), intervals.start, intervals.end, intervals.size}, ask_for_signals);
  }
  return taken(found);
}

/// Threads, starts and ends of rows or of moments.
template <class Thread>
using OnThreads = std::tuple<In<Thread>, In<int64_t>, In<int64_t>>;

Out<int64_t> rows_around(const AnyArray& kind, const OnThreads<int32_t>& rows, uint8_t wanted,
                         const OnThreads<int64_t>& moments) {
  const auto& [thread, start, end] = rows;
  const auto& [at_thread, at_start, at_end] = moments;
  if (thread.size() != kind.shape(0) || start.size() != thread.size() ||
      end.size() != thread.size() || at_start.size() != at_thread.size() ||
      at_end.size() != at_thread.size()) {
    throw nb::value_error("innermost_rows: columns differ in length");
  }
  if (bounds_of(at_thread.data(), at_thread.size()).least < 0) {
    throw nb::value_error("innermost_rows: a thread below 0");
  }
  Column<int64_t> found;
  {
    nb::gil_scoped_release released;
    found = innermost_rows(
        {integers_of(kind), thread.data(), start.data(), end.data(), thread.size()}, wanted,
        {at_thread.data(), at_start.data(), at_end.data(), at_thread.size()});
  }
  return taken(found);
}

}  // namespace

void add_arrays(nb::module_& m) {
  nb::enum_<Side>(m, "Side").value("LEFT", Side::left).value("RIGHT", Side::right);
  nb::enum_<Fold>(m, "Fold")
      .value("SUM", Fold::sum)
      .value("LEAST", Fold::least)
      .value("MOST", Fold::most);
  m.def("order", &order, "columns"_a, nb::kw_only(), "descending"_a = 0);
  m.def("dense_codes", &codes, "columns"_a);
  m.def("distinct_rows", &distinct, "columns"_a);
  m.def("positions", &found_positions, "ordered"_a, "asked"_a, "side"_a);
  m.def("last_below", &found_below, "values"_a, "low"_a, "high"_a, "limit"_a);
  m.def("are_members", &members, "column"_a, "members"_a);
  m.def("rows_among", &member_rows, "column"_a, "members"_a);
  m.def("gather", &gathered, "column"_a, "rows"_a);
  m.def("fold_groups", &folded, "group"_a, "value"_a, "groups"_a, "fold"_a, "initial"_a);
  m.def("reach_before", &earlier_reach, "stream"_a, "enqueue"_a, "end"_a);
  m.def("union_of", &joined, "start"_a, "end"_a);
  m.def("intersection_of", &combined<intersection_of>, "a_start"_a, "a_end"_a, "b_start"_a,
        "b_end"_a);
  m.def("difference_of", &combined<difference_of>, "a_start"_a, "a_end"_a, "b_start"_a, "b_end"_a);
  m.def("calls_of_ops", &paired_calls, "keys"_a, "start_ns"_a, "rows"_a, "calls"_a);
  m.def(
      "callers_of",
      [](const In<uint8_t>& kind, const In<uint64_t>& correlation, const AnyArray& part,
         const In<int32_t>& process, const In<int64_t>& start_ns, const In<int64_t>& wanted,
         uint8_t call, int32_t absent_process, const std::optional<In<uint32_t>>& added) {
        return callers(kind, correlation, part, process, start_ns, wanted, {call, absent_process},
                       added);
      },
      "kind"_a, "correlation"_a, "part"_a, "process"_a, "start_ns"_a, "wanted"_a, nb::kw_only(),
      "call"_a, "absent_process"_a, "added"_a = nb::none());
  m.def("outermost", &outer_intervals, "group"_a, "start"_a, "end"_a);
  m.def("innermost_rows", &rows_around, "kind"_a, "rows"_a, "wanted"_a, "moments"_a);
}

}  // namespace overlap_native
