// The part of the module that reads SQLite files.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_sqlite(nanobind::module_& m);

}  // namespace overlap_native
