// The part of the module that puts rows together from columns that were read.
#pragma once

#include <nanobind/nanobind.h>

namespace overlap_native {

void add_blocks(nanobind::module_& m);

}  // namespace overlap_native
