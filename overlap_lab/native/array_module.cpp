#include "array_module.h"

#include <nanobind/stl/vector.h>

#include "array_arguments.h"
#include "ordering.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace overlap_native {

namespace {

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

}  // namespace

void add_arrays(nb::module_& m) {
  m.def("order", &order, "columns"_a, nb::kw_only(), "descending"_a = 0);
}

}  // namespace overlap_native
