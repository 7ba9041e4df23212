// Which host calls and device ops there are, on which threads, and which calls lie in others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "alike.h"
#include "column.h"
#include "trace_view.h"

namespace overlap_native {

/// Kinds and calls, by their numbers in `schema.py`, as sets of bits.
struct LinkRules {
  uint64_t host, ops;  // kinds
  uint64_t owners;     // calls that own ops
  int32_t absent_process;
  int16_t absent_device;
  int64_t absent_stream;
};

inline bool is_member(uint64_t members, uint8_t value) {
  return value < 64 && (members >> value & 1) != 0;
}

/// Host calls in row order; entry i of each column is call i.
struct HostCalls {
  Column<int32_t> row;
  Column<int32_t> thread;  // dense, by part, process and thread
  std::vector<int64_t> thread_rows;
  uint64_t apis = 0;  // which there are, as bits
};

/// Rows of host calls and of device ops, the calls' threads numbered.
struct CallsAndOps {
  HostCalls calls;
  Column<int32_t> op;
};
CallsAndOps calls_and_ops(const TraceView& trace, const LinkRules& rules);

struct Callers {
  const int32_t* host;  // rows
  const int32_t* thread;
  const uint8_t* captured;  // null: none is
  size_t size;
};
/// For each call the outermost enqueue call around it on its thread, itself for any other.
Column<int32_t> outer_calls(const TraceView& trace, const LinkRules& rules, const Callers& calls,
                            const std::function<void()>& interrupted);

}  // namespace overlap_native
