#include "wait_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "array_arguments.h"
#include "enclosing.h"
#include "free_calls.h"
#include "full_queue.h"
#include "trace_arguments.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

using Ints = In<int64_t>;
using Rows = In<int32_t>;

WaitRules wait_rules(const nb::dict& rules) {
  const auto bits = [&](const char* name) { return nb::cast<uint64_t>(rules[name]); };
  return {bits("always"),
          bits("may"),
          bits("whole_device"),
          nb::cast<int64_t>(rules["floor_ns"]),
          nb::cast<int16_t>(rules["absent_device"]),
          nb::cast<int64_t>(rules["absent_stream"])};
}

/// Row, thread, outermost call and last op of each host call; place of each op; device of each
/// place.
using LentCalls = std::tuple<Rows, Rows, Rows, Rows, Rows, Ints>;

nb::tuple sorted(nb::handle trace, const nb::dict& rules, const LentCalls& calls,
                 const std::optional<In<uint8_t>>& captured) {
  const TraceArgument view(trace);
  const WaitRules which = wait_rules(rules);
  const auto& [host, thread, outer, last_op, place, device] = calls;
  if (thread.size() != host.size() || outer.size() != host.size() ||
      last_op.size() != host.size() || (captured && captured->size() != host.size())) {
    throw nb::value_error("columns of calls differ in length");
  }
  SortedCalls found;
  {
    nb::gil_scoped_release released;
    found = sorted_calls(
        view, which,
        {host.data(), thread.data(), outer.data(), last_op.data(),
         captured ? captured->data() : nullptr, place.data(), device.data(), host.size()});
  }
  std::vector<std::tuple<int64_t, int64_t, int64_t>> kinds;
  for (const Likeness& each : found.kinds.all) kinds.emplace_back(each[0], each[1], each[2]);
  return nb::make_tuple(taken(found.asked), taken(found.kind), kinds);
}

/// Enqueue starts, reaches, and whether the null stream brings it in.
using LentScope = std::tuple<Ints, Ints, bool>;

nb::tuple counted(nb::handle trace, const Rows& host, const Rows& kind,
                  const std::vector<std::vector<LentScope>>& scopes,
                  const std::optional<Ints>& own_end, size_t names) {
  const TraceArgument view(trace);
  if (kind.size() != host.size() || (own_end && own_end->size() != host.size())) {
    throw nb::value_error("columns of calls differ in length");
  }
  std::vector<std::vector<ReachOfScope>> reaches;
  for (const auto& mine : scopes) {
    std::vector<ReachOfScope>& each = reaches.emplace_back();
    for (const auto& [enqueue, reach, from_null] : mine) {
      if (reach.size() != enqueue.size() + 1) throw nb::value_error("one more reach is wanted");
      each.push_back({enqueue.data(), reach.data(), enqueue.size(), from_null});
    }
  }
  for (size_t i = 0; i < kind.size(); ++i) {
    if (kind.data()[i] >= static_cast<int64_t>(reaches.size())) {
      throw nb::value_error("a kind without scopes");
    }
  }
  FreeCalls found;
  {
    nb::gil_scoped_release released;
    found = free_calls(view, host.data(), kind.data(), host.size(), reaches,
                       own_end ? own_end->data() : nullptr, names);
  }
  return nb::make_tuple(found.count, found.longest);
}

nb::tuple near_moments(nb::handle trace, uint64_t kinds, const Ints& thread_rows,
                       const std::tuple<Ints, Ints, Ints>& moments) {
  const TraceArgument view(trace);
  const auto& [thread, start, end] = moments;
  if (thread.size() != start.size() || thread.size() != end.size()) {
    throw nb::value_error("columns of moments differ in length");
  }
  for (size_t i = 0; i < thread.size(); ++i) {
    if (static_cast<uint64_t>(thread.data()[i]) >= thread_rows.size()) {
      throw nb::value_error("a moment on a thread that there is not");
    }
  }
  NearRows found;
  {
    nb::gil_scoped_release released;
    found = rows_near(view, kinds, thread_rows.data(), thread_rows.size(),
                      {thread.data(), start.data(), end.data(), thread.size()});
  }
  return nb::make_tuple(taken(found.row), taken(found.thread));
}

Out<int32_t> full_queue(nb::handle trace, const Rows& host, const Rows& launches,
                        const In<uint8_t>& slow, const Ints& entered, const Ints& left) {
  const TraceArgument view(trace);
  if (slow.size() != host.size() || !all_within(host, 0, view.size()) ||
      !all_within(launches, 0, host.size())) {
    throw nb::value_error("rows or calls that there are not");
  }
  Column<int32_t> found;
  {
    nb::gil_scoped_release released;
    found = mostly_slow(view, {host.data(), launches.data(), launches.size(), slow.data()},
                        {entered.data(), entered.size()}, {left.data(), left.size()});
  }
  return taken(found);
}

}  // namespace

void add_waits(nb::module_& m) {
  m.def("sorted_calls", &sorted, "trace"_a, "rules"_a, "calls"_a, "captured"_a.none());
  m.def("free_calls", &counted, "trace"_a, "host"_a, "kind"_a, "scopes"_a, "own_end"_a.none(),
        "names"_a);
  m.def("full_queue", &full_queue, "trace"_a, "host"_a, "launches"_a, "slow"_a, "entered"_a,
        "left"_a);
  m.def("rows_near", &near_moments, "trace"_a, "kinds"_a, "thread_rows"_a, "moments"_a);
}

}  // namespace overlap_native
