// What readers have read so far, for a person who waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace overlap_native {

/// Counts that only grow, of all readers of this process.
struct Progress {
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> rows{0};

  void add_bytes(uint64_t more) { bytes.fetch_add(more, std::memory_order_relaxed); }
  void add_rows(uint64_t more) { rows.fetch_add(more, std::memory_order_relaxed); }
};

Progress& progress();

}  // namespace overlap_native
