// Python's door to the calls that may wait, and to what lies around those that did.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_waits(nanobind::module_& m);

}  // namespace overlap_native
