// Which host call made which device op.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "alike.h"
#include "column.h"
#include "host_calls.h"
#include "trace_view.h"

namespace overlap_native {

/// Device ops in row order; entry i of each column is op i.
struct LinkedOps {
  Column<int32_t> caller;  // index of the call that made it; -1 for none
  Column<int64_t> enqueue, start, end;
  Column<int32_t> place;
  Alike places;             // part, process, device and stream, each the op's own, else its call's
  Alike feeds;              // thread of a call and place of an op that it made
  bool ids_repeat = false;  // whether two calls may have the same id
  bool sound = true;        // whether this answer can be used: else the ids are too tangled

  void set(size_t at, const TraceView& trace, size_t row, size_t call_row) {
    start[at] = trace.start_ns[row];
    end[at] = trace.end_ns[row];
    enqueue[at] = trace.start_ns[call_row];
  }
};

LinkedOps linked_ops(const TraceView& trace, const LinkRules& rules, const Callers& calls,
                     const int32_t* op, size_t ops, const std::function<void()>& interrupted);

/// What each outermost call made, itself or by a call in it.
struct OwnedOps {
  Column<int32_t> last;  // per call the last of its ops; -1 for none
  bool several = false;  // whether any has more than one
};
struct FlaggedOps {
  const int32_t *row, *caller, *place;
  const int64_t *start, *end;
  size_t size;
  const int32_t* outer;  // of calls
  const uint8_t* flags;  // of calls: which outermost ones are asked for
  size_t calls;
};
/// What flagged outermost calls made: first start and last end of each; and of its ops of each
/// place, copy kind and memory the one that ended last, in the order of the last ones.
struct OwnOps {
  Column<int64_t> first, last;
  Column<int32_t> op;
};
OwnOps own_ops(const FlaggedOps& ops, const Lent<uint8_t>& copy_kind, const Lent<uint8_t>& memory);
OwnedOps owned_ops(const int32_t* caller, size_t ops, const int32_t* outer, size_t calls);

}  // namespace overlap_native
