// What the runtime records about itself: every API call, device op and host function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hip_host/export.h"
#include "hip_host/hip_runtime.h"

namespace hip_host {

inline constexpr int64_t no_stream = -1;  // of a call that takes no (valid) stream
inline constexpr int no_copy = -1;        // of a call or op that copies nothing

enum class MemoryKind : uint8_t { none, pageable, pinned, device };
enum class OpKind : uint8_t { kernel, memcpy, memset, host_function, marker };

/// One API call. Times are ns of CLOCK_BOOTTIME, as rocprofiler-sdk writes them.
struct ApiRecord {
  const char* name = "";
  const std::string* kernel = nullptr;  // hipLaunchKernel only; lives as long as the process
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t correlation_id = 0;
  int64_t stream_id = no_stream;
  int32_t thread_id = 0;
  hipError_t result = hipSuccess;
  uint64_t bytes = 0;
  int32_t copy_kind = no_copy;  // the resolved direction, never hipMemcpyDefault
  MemoryKind src_kind = MemoryKind::none;
  MemoryKind dst_kind = MemoryKind::none;
  bool waited = false;  // the call really blocked until device work (or a host function) went on
  uint32_t stack = 0;   // what the stack provider gave when it returned, if it waited
  uint64_t stream_argument = 0;
  uint64_t src = 0;
  uint64_t dst = 0;
  uint64_t event = 0;
};

/// One device op or host function; `correlation_id` is its API call's, for the ops of a graph the
/// hipGraphLaunch's. `thread_id` is the thread that enqueued it; of a host function, that ran it.
struct OpRecord {
  OpKind kind = OpKind::marker;
  const std::string* name = nullptr;  // lives as long as the process
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t correlation_id = 0;
  int64_t stream_id = 0;
  int32_t thread_id = 0;
  uint64_t bytes = 0;
  int32_t copy_kind = no_copy;
  MemoryKind src_kind = MemoryKind::none;
  MemoryKind dst_kind = MemoryKind::none;
  uint64_t src = 0;
  uint64_t dst = 0;
  uint64_t graph_exec = 0;  // the hipGraphExec_t it came from, 0 for none
  dim3 grid;
  dim3 block;
  uint64_t lds_bytes = 0;
};

/// A named range of a thread, as roctx has them.
struct RangeRecord {
  const std::string* name = nullptr;  // lives as long as the process
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t thread_id = 0;
};

/// Each vector is ordered by start_ns.
struct Records {
  std::vector<ApiRecord> api;
  std::vector<OpRecord> ops;
  std::vector<OpRecord> host_functions;
  std::vector<RangeRecord> ranges;
};

/// Asked by a call that waited, on its thread, for a number of the stack that it was made from. It
/// may block and must not throw or call this runtime.
using StackProvider = uint32_t (*)();
/// Null, the start value, asks nobody.
HIP_HOST_API void recorder_set_stack_provider(StackProvider provider);

/// Starts a new recording and drops what the last one left. Ops of calls made earlier do not enter.
HIP_HOST_API void recorder_start();
/// No later call is recorded; the ops of recorded calls still are, when they end.
HIP_HOST_API void recorder_stop();
/// Moves out what has ended so far; synchronize the device first to get every op.
HIP_HOST_API Records recorder_take();

/// A stream of this process, destroyed ones too: ids and handles are never used twice.
struct StreamRecord {
  int64_t stream_id = 0;
  uint64_t handle = 0;  // 0 for the null stream
  unsigned flags = hipStreamDefault;
};

/// Every stream so far, ordered by id; the null stream is the first.
HIP_HOST_API std::vector<StreamRecord> recorder_streams();

}  // namespace hip_host
