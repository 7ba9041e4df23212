// Python's door to questions about all ops of one device.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_devices(nanobind::module_& m);

}  // namespace overlap_native
