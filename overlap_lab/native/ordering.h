// The order of rows by one or more columns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"
#include "key_column.h"

namespace overlap_native {

/// Positions 0 to size - 1 in the order of their keys, the first of which counts most; equal ones
/// stay as they are. Throws std::length_error for more than 2^31 rows.
Column<int64_t> ordered(const std::vector<KeyColumn>& keys, size_t size,
                        const std::function<void()>& interrupted);

}  // namespace overlap_native
