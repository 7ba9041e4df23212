// The part of the module that orders and counts arrays of integers.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_arrays(nanobind::module_& m);

}  // namespace overlap_native
