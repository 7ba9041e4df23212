// The columns of a trace, as its Python object holds them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// A column of a known type; the same value throughout where its stride is 0.
template <class Value>
struct Lent {
  using Array = nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::device::cpu>;
  Array array;
  const Value* first = nullptr;
  std::ptrdiff_t stride = 1;

  Lent() = default;
  explicit Lent(nanobind::handle object) : array(nanobind::cast<Array>(object)) {
    first = array.data();
    stride = array.shape(0) > 1 ? static_cast<std::ptrdiff_t>(array.stride(0)) : 1;
  }
  Value operator[](size_t row) const { return first[static_cast<std::ptrdiff_t>(row) * stride]; }
  size_t size() const { return array.shape(0); }
  bool constant() const { return stride == 0; }
};

/// To be made with the interpreter lock held; read without.
struct TraceView {
  Lent<uint8_t> kind, api;
  Lent<int64_t> start_ns, end_ns;
  Lent<int32_t> part, process;
  Lent<int64_t> thread;
  Lent<int16_t> device;
  Lent<int64_t> stream;
  Lent<uint64_t> correlation;
  Lent<int64_t> graph;
  Lent<int32_t> name;

  explicit TraceView(nanobind::handle trace)
      : kind(trace.attr("kind")),
        api(trace.attr("api")),
        start_ns(trace.attr("start_ns")),
        end_ns(trace.attr("end_ns")),
        part(trace.attr("part")),
        process(trace.attr("process")),
        thread(trace.attr("thread")),
        device(trace.attr("device")),
        stream(trace.attr("stream")),
        correlation(trace.attr("correlation")),
        graph(trace.attr("graph")),
        name(trace.attr("name")) {
    const size_t rows = kind.size();
    for (const size_t each :
         {api.size(), start_ns.size(), end_ns.size(), part.size(), process.size(), thread.size(),
          device.size(), stream.size(), correlation.size(), graph.size(), name.size()}) {
      if (each != rows) throw nanobind::value_error("the trace's columns differ in length");
    }
  }
  size_t size() const { return kind.size(); }
};

}  // namespace overlap_native
