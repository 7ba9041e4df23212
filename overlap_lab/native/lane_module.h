// Python's door to sweeps over the ops of devices and streams.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_lanes(nanobind::module_& m);

}  // namespace overlap_native
