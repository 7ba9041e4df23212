// The parser of events as Python's.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_parser(nanobind::module_& m);

}  // namespace overlap_native
