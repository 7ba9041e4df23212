// Sorting distinct 64-bit numbers, on as many threads as there are cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "column.h"

namespace overlap_native {

/// Sorts distinct numbers of which all bits below `low_bit` are in order already where the others
/// are equal, and no bit from `high_bit` on is set. Numbers that are nearly in order are put into
/// it by insertion, others by their digits. `interrupted` is asked as `run_tasks` does.
void sort_numbers(Column<uint64_t>& numbers, unsigned low_bit, unsigned high_bit,
                  const std::function<void()>& interrupted);

}  // namespace overlap_native
