// The functions on whole columns that make rows of a trace from rows of a file.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_gathers(nanobind::module_& m);

}  // namespace overlap_native
