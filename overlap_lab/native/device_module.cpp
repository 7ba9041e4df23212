#include "device_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "array_arguments.h"
#include "device_ops.h"
#include "recoveries.h"
#include "trace_arguments.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

using Ints = In<int64_t>;
using Rows = In<int32_t>;
/// Start, end and enqueue start of all ops, their starts as linked, caller and place; then the rows
/// of host calls, the device's ops, where these are not all, and what a graph launch is.
using Lent9 = std::tuple<Ints, Ints, Ints, Ints, Rows, Rows, Rows, std::optional<Rows>, uint8_t>;
using Window = std::optional<std::pair<int64_t, int64_t>>;

DeviceOps ops_of(const Lent9& columns, const Window& window = std::nullopt) {
  const auto& [start, end, enqueue, own_start, caller, place, host, index, graph_launch] = columns;
  const size_t size = start.size();
  if (end.size() != size || enqueue.size() != size || own_start.size() != size ||
      caller.size() != size || place.size() != size || (index && index->size() > size)) {
    throw nb::value_error("columns of ops differ in length");
  }
  using Limits = std::numeric_limits<int64_t>;
  return {start.data(),
          end.data(),
          enqueue.data(),
          own_start.data(),
          caller.data(),
          place.data(),
          host.data(),
          index ? index->data() : nullptr,
          index ? index->size() : size,
          host.size(),
          graph_launch,
          window ? window->first : Limits::min(),
          window ? window->second : Limits::max()};
}

nb::tuple told(const Tenths& tenths) {
  return nb::make_tuple(tenths.count, tenths.low, tenths.high);
}

nb::tuple leads(nb::handle trace, const Lent9& columns, const Window& window, bool from_return,
                const std::vector<unsigned>& tenths) {
  const TraceArgument view(trace);
  const DeviceOps ops = ops_of(columns, window);
  Tenths found;
  {
    nb::gil_scoped_release released;
    found = run_ahead(view, ops, from_return, tenths);
  }
  return told(found);
}

nb::tuple empty_leads(nb::handle trace, const Lent9& columns, const Window& window, size_t places,
                      const std::vector<unsigned>& tenths) {
  const TraceArgument view(trace);
  const DeviceOps ops = ops_of(columns, window);
  Tenths found;
  {
    nb::gil_scoped_release released;
    found = empty_run_ahead(view, ops, places, tenths, ask_for_signals);
  }
  return told(found);
}

nb::tuple entries(nb::handle trace, const Lent9& columns) {
  const TraceArgument view(trace);
  const DeviceOps ops = ops_of(columns);
  QueueEntries found;
  {
    nb::gil_scoped_release released;
    found = queue_entries(view, ops, ask_for_signals);
  }
  if (!found.graphs) return nb::make_tuple(taken(found.entered), nb::none());
  return nb::make_tuple(taken(found.entered), taken(found.left));
}

nb::tuple peaks(nb::handle trace, const Lent9& columns, const Ints& ends) {
  const TraceArgument view(trace);
  const DeviceOps ops = ops_of(columns);
  if (ends.size() != ops.size) throw nb::value_error("an end for each op is wanted");
  QueuePeaks found{};
  {
    nb::gil_scoped_release released;
    found = queue_peaks(view, ops, ends.data(), ask_for_signals);
  }
  return nb::make_tuple(found.depth, found.work);
}

nb::tuple recovered(const Lent9& columns, const std::tuple<Ints, Ints, Ints>& waits,
                    int64_t twice_least, int64_t none) {
  const DeviceOps ops = ops_of(columns);
  const auto& [called, gap_end, returned] = waits;
  if (called.size() != gap_end.size() || called.size() != returned.size()) {
    throw nb::value_error("columns of waits differ in length");
  }
  Recoveries found;
  {
    nb::gil_scoped_release released;
    found = recoveries(ops, {called.data(), gap_end.data(), returned.data(), called.size()},
                       twice_least, none);
  }
  return nb::make_tuple(taken(found.before), taken(found.after));
}

nb::tuple pieces(nb::handle trace, const Lent9& columns,
                 const std::tuple<Ints, Ints, Rows, In<uint8_t>>& gaps,
                 const std::tuple<uint8_t, uint8_t, uint8_t, uint8_t>& causes, int64_t cap_ns) {
  const TraceArgument view(trace);
  const DeviceOps ops = ops_of(columns);
  const auto& [start, end, next, known] = gaps;
  if (end.size() != start.size() || next.size() != start.size() || known.size() != start.size()) {
    throw nb::value_error("columns of gaps differ in length");
  }
  const auto [host_late, launch, in_call, dependency] = causes;
  IdlePieces found;
  {
    nb::gil_scoped_release released;
    found =
        idle_pieces(view, ops, {start.data(), end.data(), next.data(), known.data(), start.size()},
                    {host_late, launch, in_call, dependency, cap_ns});
  }
  return nb::make_tuple(taken(found.start), taken(found.end), taken(found.cause), taken(found.gap));
}

}  // namespace

void add_devices(nb::module_& m) {
  m.def("run_ahead", &leads, "trace"_a, "ops"_a, "window"_a.none(), "from_return"_a, "tenths"_a);
  m.def("empty_run_ahead", &empty_leads, "trace"_a, "ops"_a, "window"_a.none(), "places"_a,
        "tenths"_a);
  m.def("queue_entries", &entries, "trace"_a, "ops"_a);
  m.def("queue_peaks", &peaks, "trace"_a, "ops"_a, "ends"_a);
  m.def("recoveries", &recovered, "ops"_a, "waits"_a, "twice_least"_a, "none"_a);
  m.def("idle_pieces", &pieces, "trace"_a, "ops"_a, "gaps"_a, "causes"_a, "cap_ns"_a);
}

}  // namespace overlap_native
