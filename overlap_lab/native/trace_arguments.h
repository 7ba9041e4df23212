// Columns of a trace taken from Python, and kept there as long as these live.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "trace_view.h"

namespace overlap_native {

template <class Value>
class LentArgument : public Lent<Value> {
 public:
  using Array = nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::device::cpu>;

  explicit LentArgument(nanobind::handle object) : array_(nanobind::cast<Array>(object)) {
    this->first = array_.data();
    this->count = array_.shape(0);
    this->stride = this->count > 1 ? static_cast<std::ptrdiff_t>(array_.stride(0)) : 1;
  }
  const Array& array() const { return array_; }

 private:
  Array array_;
};

/// To be made with the interpreter lock held; read without.
class TraceArgument : public TraceView {
 public:
  explicit TraceArgument(nanobind::handle trace) {
    take(trace, "kind", kind);
    take(trace, "start_ns", start_ns);
    take(trace, "end_ns", end_ns);
    take(trace, "thread", thread);
    take(trace, "stream", stream);
    take(trace, "graph", graph);
    take(trace, "api", api);
    take(trace, "part", part);
    take(trace, "process", process);
    take(trace, "device", device);
    take(trace, "correlation", correlation);
    take(trace, "name", name);
  }

 private:
  template <class Value>
  void take(nanobind::handle trace, const char* attribute, Lent<Value>& column) {
    const LentArgument<Value> lent(trace.attr(attribute));
    if (!held_.empty() && lent.size() != size()) {
      throw nanobind::value_error("the trace's columns differ in length");
    }
    column = lent;
    held_.emplace_back(lent.array());
  }

  std::vector<nanobind::ndarray<>> held_;
};

}  // namespace overlap_native
