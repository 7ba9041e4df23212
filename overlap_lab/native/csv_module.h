// Python's door to the reader of CSV.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_csv(nanobind::module_& m);

}  // namespace overlap_native
