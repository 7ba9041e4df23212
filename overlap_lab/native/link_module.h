// Python's door to the pairing of calls and ops, and to what is wrong with them.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_links(nanobind::module_& m);

}  // namespace overlap_native
