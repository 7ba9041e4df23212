// Python's door to the reader of rocprofv3's JSON.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_records(nanobind::module_& m);

}  // namespace overlap_native
