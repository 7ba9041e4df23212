#pragma once

#include <nanobind/nanobind.h>

namespace hip_host_binding {

void add_recording(nanobind::module_& module);

}  // namespace hip_host_binding
