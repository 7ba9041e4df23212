// The order in time of blocks of rows, most of which are in that order already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "column.h"

namespace overlap_native {

/// Rows that follow those of the blocks before.
struct TimedBlock {
  const int64_t* start_ns;
  const int64_t* end_ns;
  size_t size;
};

struct BlockOrder {
  Column<uint32_t> order;  // which row comes to each place
  Column<uint32_t> place;  // to which place each row comes
  Column<int64_t> start_ns, end_ns;
};

/// Rows in the order of their starts, of rows that start together the longer first, then as they
/// are; false where the starts are too far apart for that many rows. `interrupted` is asked as
/// `run_tasks` does.
bool block_order(const std::vector<TimedBlock>& blocks, const std::function<void()>& interrupted,
                 BlockOrder& found);

}  // namespace overlap_native
