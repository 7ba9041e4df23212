// The lead of the host around waits: before each, and how long it takes to come back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"
#include "device_ops.h"

namespace overlap_native {

/// Waits of the host by call, end of the gap that they left, and return.
struct Drained {
  const int64_t *called, *gap_end, *returned;
  size_t size;
};

/// Of the last op with a run-ahead that was enqueued before each call its run-ahead; and how long
/// after each return one starts, at the end of the gap or later, whose run-ahead, doubled, is
/// `twice_least` or more. `none` for none.
struct Recoveries {
  Column<int64_t> before, after;
};
Recoveries recoveries(const DeviceOps& ops, Drained waits, int64_t twice_least, int64_t none);

}  // namespace overlap_native
