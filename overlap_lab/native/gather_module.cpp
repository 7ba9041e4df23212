#include "gather_module.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>

#include "array_arguments.h"
#include "gather.h"
#include "threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

using Order = In<uint32_t>;
using Plain = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// New memory for values of some type, and the array that owns it.
struct Fresh {
  Fresh(size_t size, nb::dlpack::dtype type) {
    Column<char> column;
    const size_t bytes = std::max<size_t>(size, 1) * (type.bits / 8U);
    column.reserve(bytes);
    const Block block = column.release();
    memory = block.memory;
    array = nb::cast(nb::ndarray<nb::numpy>(memory, {size}, owner_of(block), {}, type));
  }
  void* memory;
  nb::object array;
};

/// Calls `work` with a zero that is as wide as the values.
template <class Work>
void with_width(size_t bytes, const Work& work) {
  switch (bytes) {
    case 1:
      return work(uint8_t{});
    case 2:
      return work(uint16_t{});
    case 4:
      return work(uint32_t{});
    case 8:
      return work(uint64_t{});
    default:
      throw std::invalid_argument("gather: values of 1, 2, 4 or 8 bytes are wanted");
  }
}

/// Throws IndexError where a row of `order` is none of `size`.
void check_rows(const Order& order, size_t size) {
  std::atomic<bool> inside{true};
  for_parts(order.size(), kGatherGrain, [&](size_t begin, size_t end) {
    uint32_t last = 0;
    for (size_t i = begin; i < end; ++i) last = std::max(last, order.data()[i]);
    if (begin < end && last >= size) inside = false;
  });
  if (!inside) throw nb::index_error("take: a row that is not there");
}

nb::object take(const Plain& values, const Order& order) {
  const size_t size = order.size();
  check_rows(order, values.size());
  const Fresh fresh(size, values.dtype());
  {
    nb::gil_scoped_release released;
    with_width(values.itemsize(), [&](auto zero) {
      using Value = decltype(zero);
      const auto* from = static_cast<const Value*>(values.data());
      auto* to = static_cast<Value*>(fresh.memory);
      const uint32_t* row = order.data();
      for_parts(size, kGatherGrain, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) to[i] = from[row[i]];
      });
    });
  }
  return fresh.array;
}

/// Of numbers that have no 32 bits the least number.
Out<int32_t> take_narrow(In<int64_t> values, const Order& order) {
  Column<int32_t> narrow;
  narrow.hold(std::max<size_t>(order.size(), 1));
  narrow.set_size(order.size());
  {
    nb::gil_scoped_release released;
    for_parts(order.size(), kGatherGrain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const int64_t value = values.data()[order.data()[i]];
        const auto kept = static_cast<int32_t>(value);
        narrow[i] = kept == value ? kept : std::numeric_limits<int32_t>::min();
      }
    });
  }
  return taken(narrow);
}

template <class Value>
void put(Value* to, const Value* from, const uint32_t* place, size_t size) {
  for_parts(size, kGatherGrain, [=](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[place[i]] = from[i];
  });
}

nb::object spread(const Plain& values, const Order& places, size_t size, const Plain& other) {
  if (values.size() != places.size() || other.size() != 1 || other.dtype() != values.dtype()) {
    throw std::invalid_argument("spread: a place for each value and one other value are wanted");
  }
  const Fresh fresh(size, values.dtype());
  {
    nb::gil_scoped_release released;
    with_width(values.itemsize(), [&](auto zero) {
      using Value = decltype(zero);
      auto* to = static_cast<Value*>(fresh.memory);
      const Value absent = *static_cast<const Value*>(other.data());
      for_parts(size, kGatherGrain,
                [=](size_t begin, size_t end) { std::fill(to + begin, to + end, absent); });
      put(to, static_cast<const Value*>(values.data()), places.data(), places.size());
    });
  }
  return fresh.array;
}

Out<uint32_t> places(const Order& order) {
  Column<uint32_t> found;
  {
    nb::gil_scoped_release released;
    found = places_of(order.data(), order.size());
  }
  return taken(found);
}

Out<uint32_t> ordered_by_time(In<int64_t> start_ns, In<int64_t> end_ns, In<uint8_t> kind,
                              In<uint8_t> rank, In<int64_t> by_start) {
  const size_t size = start_ns.size();
  if (end_ns.size() != size || kind.size() != size || by_start.size() != size ||
      rank.size() != 256) {
    throw std::invalid_argument("time_order: columns differ in length");
  }
  TimedRows rows{start_ns.data(), end_ns.data(), kind.data(), {}};
  std::copy(rank.data(), rank.data() + rank.size(), rows.rank.begin());
  Column<uint32_t> order;
  {
    nb::gil_scoped_release released;
    order = time_order(rows, by_start.data(), size);
  }
  return taken(order);
}

}  // namespace

void add_gathers(nb::module_& m) {
  m.def("take", &take, "values"_a, "order"_a);
  m.def("take_narrow", &take_narrow, "values"_a, "order"_a);
  m.def("spread", &spread, "values"_a, "places"_a, "size"_a, "other"_a);
  m.def("places", &places, "order"_a);
  m.def("time_order", &ordered_by_time, "start_ns"_a, "end_ns"_a, "kind"_a, "rank"_a, "by_start"_a);
}

}  // namespace overlap_native
