// Parts of the unpacking for tests.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_inflate(nanobind::module_& m);

}  // namespace overlap_native
