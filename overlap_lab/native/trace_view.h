// The columns of a trace, where its Python object holds them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// A column of a known type; the same value throughout where its stride is 0.
template <class Value>
struct Lent {
  const Value* first = nullptr;
  std::ptrdiff_t stride = 1;
  size_t count = 0;

  Value operator[](size_t row) const { return first[static_cast<std::ptrdiff_t>(row) * stride]; }
  size_t size() const { return count; }
  bool constant() const { return stride == 0; }
};

/// All of one length.
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

  size_t size() const { return kind.size(); }
};

}  // namespace overlap_native
