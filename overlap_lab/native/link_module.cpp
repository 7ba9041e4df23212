#include "link_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "array_arguments.h"
#include "faults.h"
#include "linking.h"
#include "lookup.h"
#include "sized_column.h"
#include "threads.h"
#include "trace_arguments.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

LinkRules rules_of(const nb::dict& rules) {
  const auto bits = [&](const char* name) { return nb::cast<uint64_t>(rules[name]); };
  return {bits("host"),
          bits("ops"),
          bits("owners"),
          nb::cast<int32_t>(rules["absent_process"]),
          nb::cast<int16_t>(rules["absent_device"]),
          nb::cast<int64_t>(rules["absent_stream"])};
}

void need_within(const In<int32_t>& rows, size_t size) {
  if (!all_within(rows, 0, size)) throw nb::value_error("rows that the columns do not have");
}

template <class Value>
Out<Value> copied(const std::vector<Value>& values) {
  Column<Value> column = sized_column<Value>(values.size());
  std::copy(values.begin(), values.end(), column.data());
  return taken(column);
}

/// Field `at` of each likeness.
Out<int64_t> field_of(const Alike& alike, size_t at) {
  std::vector<int64_t> values;
  for (const Likeness& each : alike.all) values.push_back(each[at]);
  return copied(values);
}

const uint8_t* lent(const std::optional<In<uint8_t>>& captured, size_t calls) {
  if (!captured) return nullptr;
  if (captured->size() != calls) throw nb::value_error("captured: one for each call is wanted");
  return captured->data();
}

nb::tuple split(nb::handle trace, const nb::dict& rules) {
  const TraceArgument view(trace);
  const LinkRules which = rules_of(rules);
  if (view.size() > INT32_MAX) throw std::length_error("more than 2^31 rows");
  CallsAndOps found;
  {
    nb::gil_scoped_release released;
    found = calls_and_ops(view, which);
  }
  return nb::make_tuple(taken(found.calls.row), taken(found.op), taken(found.calls.thread),
                        copied(found.calls.thread_rows), found.calls.apis);
}

Out<int32_t> outer(nb::handle trace, const nb::dict& rules, const In<int32_t>& host,
                   const In<int32_t>& thread) {
  const TraceArgument view(trace);
  const LinkRules which = rules_of(rules);
  need_within(host, view.size());
  need_within(thread, host.size());
  if (host.size() != thread.size()) throw nb::value_error("a thread for each call is wanted");
  Column<int32_t> found;
  {
    nb::gil_scoped_release released;
    found = outer_calls(view, which, {host.data(), thread.data(), nullptr, host.size()},
                        ask_for_signals);
  }
  return taken(found);
}

nb::object linked(nb::handle trace, const nb::dict& rules, const In<int32_t>& host,
                  const In<int32_t>& thread, const std::optional<In<uint8_t>>& captured,
                  const In<int32_t>& op) {
  const TraceArgument view(trace);
  const LinkRules which = rules_of(rules);
  need_within(host, view.size());
  need_within(op, view.size());
  if (host.size() != thread.size()) throw nb::value_error("a thread for each call is wanted");
  const Callers calls{host.data(), thread.data(), lent(captured, host.size()), host.size()};
  LinkedOps found;
  {
    nb::gil_scoped_release released;
    found = linked_ops(view, which, calls, op.data(), op.size(), ask_for_signals);
  }
  if (!found.sound) return nb::none();
  const Alike &places = found.places, &feeds = found.feeds;
  return nb::make_tuple(taken(found.caller), taken(found.enqueue), taken(found.start),
                        taken(found.end), taken(found.place),
                        nb::make_tuple(field_of(places, 0), field_of(places, 1),
                                       field_of(places, 2), field_of(places, 3)),
                        nb::make_tuple(field_of(feeds, 0), field_of(feeds, 1)), found.ids_repeat);
}

Out<int32_t> calls_among(nb::handle trace, const In<int32_t>& host, uint64_t apis,
                         const std::optional<In<uint8_t>>& left_out) {
  const TraceArgument view(trace);
  need_within(host, view.size());
  const uint8_t* without = lent(left_out, host.size());
  Column<int32_t> found;
  {
    nb::gil_scoped_release released;
    found = indexes_where<int32_t>(host.size(), [&](size_t call) {
      return is_member(apis, view.api[static_cast<size_t>(host.data()[call])]) &&
             (without == nullptr || without[call] == 0);
    });
  }
  return taken(found);
}

nb::tuple owned(const In<int32_t>& caller, const In<int32_t>& outer) {
  need_within(outer, outer.size());
  if (!all_within(caller, INT32_MIN, outer.size())) {
    throw nb::value_error("a caller that there is not");
  }
  OwnedOps found;
  {
    nb::gil_scoped_release released;
    found = owned_ops(caller.data(), caller.size(), outer.data(), outer.size());
  }
  return nb::make_tuple(taken(found.last), found.several);
}

using Links = std::tuple<In<int32_t>, In<int32_t>, In<int32_t>, In<int32_t>>;

nb::tuple own(nb::handle trace, const Links& links, const In<uint8_t>& flags,
              const In<int64_t>& start, const In<int64_t>& end,
              const std::tuple<nb::object, nb::object>& memory) {
  const TraceArgument view(trace);
  const LentArgument<uint8_t> copy_kind(std::get<0>(memory)), place_of_copy(std::get<1>(memory));
  const auto& [row, caller, place, outer] = links;
  if (flags.size() != outer.size() || caller.size() != row.size() || place.size() != row.size() ||
      start.size() != row.size() || end.size() != row.size() || copy_kind.size() != view.size() ||
      place_of_copy.size() != view.size()) {
    throw nb::value_error("own_ops: columns differ in length");
  }
  need_within(row, view.size());
  need_within(outer, outer.size());
  OwnOps found;
  {
    nb::gil_scoped_release released;
    found = own_ops({row.data(), caller.data(), place.data(), start.data(), end.data(), row.size(),
                     outer.data(), flags.data(), outer.size()},
                    copy_kind, place_of_copy);
  }
  return nb::make_tuple(taken(found.first), taken(found.last), taken(found.op));
}

nb::tuple overran(const In<int64_t>& start, const In<int64_t>& end, const In<int32_t>& place,
                  const std::vector<uint8_t>& in_turn, int64_t jitter, int64_t corrupt) {
  if (start.size() != end.size() || start.size() != place.size()) {
    throw nb::value_error("overruns: columns differ in length");
  }
  need_within(place, in_turn.size());
  Overruns found;
  {
    nb::gil_scoped_release released;
    found = overruns_of({start.data(), end.data(), place.data(), start.size(), in_turn}, jitter,
                        corrupt, ask_for_signals);
  }
  return nb::make_tuple(found.overlaps, taken(found.asked), taken(found.over),
                        taken(found.following));
}

nb::tuple faulty_ops(nb::handle trace, const In<int32_t>& host, const In<int32_t>& row,
                     const In<int32_t>& caller, const In<int64_t>& start, const In<int64_t>& end,
                     const In<int64_t>& enqueue, uint8_t graph_launch, int64_t absent_graph) {
  const TraceArgument view(trace);
  need_within(host, view.size());
  need_within(row, view.size());
  OpFaults found;
  {
    nb::gil_scoped_release released;
    found = op_faults(view, host.data(),
                      {row.data(), caller.data(), start.data(), end.data(), enqueue.data(),
                       row.size(), graph_launch, absent_graph});
  }
  return nb::make_tuple(found.unlinked, found.inverted, found.empty, found.graph);
}

nb::tuple faulty_calls(nb::handle trace, const In<int32_t>& host, const In<int32_t>& outer,
                       const In<int32_t>& last_op, const std::optional<In<uint8_t>>& captured,
                       uint64_t owners, uint8_t copy) {
  const TraceArgument view(trace);
  need_within(host, view.size());
  need_within(outer, host.size());
  const OwningCalls calls{host.data(), outer.data(), last_op.data(), lent(captured, host.size()),
                          host.size()};
  CallFaults found;
  {
    nb::gil_scoped_release released;
    found = call_faults(view, calls, owners, copy);
  }
  return nb::make_tuple(found.owners, found.copies, found.copies_without_op, taken(found.lost));
}

/// Whether a value is less than the one beside it.
bool below(nb::handle left, nb::handle right) {
  const LentArgument<int64_t> low(left), high(right);
  if (low.size() != high.size()) throw nb::value_error("columns differ in length");
  const nb::gil_scoped_release released;
  std::atomic<bool> found{false};
  for_parts(low.size(), 1 << 17, [&](size_t begin, size_t end) {
    bool any = false;
    for (size_t i = begin; i < end; ++i) any |= low[i] < high[i];
    if (any) found = true;
  });
  return found;
}

}  // namespace

void add_links(nb::module_& m) {
  m.def("any_below", &below, "low"_a, "high"_a);
  m.def("calls_and_ops", &split, "trace"_a, "rules"_a);
  m.def("outer_calls", &outer, "trace"_a, "rules"_a, "host"_a, "thread"_a);
  m.def("linked_ops", &linked, "trace"_a, "rules"_a, "host"_a, "thread"_a, "captured"_a.none(),
        "op"_a);
  m.def("calls_among", &calls_among, "trace"_a, "host"_a, "apis"_a, "left_out"_a.none());
  m.def("owned_ops", &owned, "caller"_a, "outer"_a);
  m.def("own_ops", &own, "trace"_a, "links"_a, "flags"_a, "start"_a, "end"_a, "memory"_a);
  m.def("overruns", &overran, "start"_a, "end"_a, "place"_a, "in_turn"_a, "jitter"_a, "corrupt"_a);
  m.def("op_faults", &faulty_ops, "trace"_a, "host"_a, "row"_a, "caller"_a, "start"_a, "end"_a,
        "enqueue"_a, "graph_launch"_a, "absent_graph"_a);
  m.def("call_faults", &faulty_calls, "trace"_a, "host"_a, "outer"_a, "last_op"_a,
        "captured"_a.none(), "owners"_a, "copy"_a);
}

}  // namespace overlap_native
