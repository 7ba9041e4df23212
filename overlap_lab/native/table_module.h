// Python's door to the readers of tables.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_tables(nanobind::module_& m);

}  // namespace overlap_native
