// What one call of an op uses, kept alive until its stream has passed the call.
//
// Host target: torch knows nothing of its streams. When Python drops a CPU tensor, its memory is
// free at once, although a kernel may still read it. So each call holds references. They are
// dropped by the thread that makes the next call or synchronizes, never by a stream's thread:
// dropping the last reference to a tensor may take Python's lock.
//
// GPU: torch's allocator gives freed memory to later work of the same stream, so that a call may
// drop what it used when it has enqueued everything. Only what a captured graph uses stays.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hip_ext/gpu.h"

namespace hip_ext {

struct CallPieces;

class CallMemory {
 public:
  CallMemory();
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;

  // Keeps it alive.
  void keep(std::shared_ptr<void> owner);

  // The caller's tensors; a GPU's caller keeps them long enough.
  void keep_arguments(std::shared_ptr<void> tensors);

  // From now on [memory, memory + bytes) is device memory for the runtime, which has to know that
  // of what it copies or fills; kernels take any pointer. A GPU's runtime knows by itself.
  void declare(const void* memory, size_t bytes);

  // A pinned block of a captured graph: kept until the graph is destroyed.
  void keep_for_graph(std::shared_ptr<void> block);

  // Hands over what has to live on: host target everything, to the tail of the stream (of a graph,
  // if the stream is being captured); GPU the blocks for the graph, to the graph.
  void retain(hipStream_t stream) noexcept;

  // Drops what finished calls held; on a GPU that is nothing.
  static void release_finished();

 private:
  std::shared_ptr<CallPieces> pieces_;
};

// Retains at the end of a scope, also when the launch failed half way.
class RetainAtExit {
 public:
  RetainAtExit(CallMemory& memory, hipStream_t stream) : memory_(memory), stream_(stream) {}
  ~RetainAtExit() { memory_.retain(stream_); }
  RetainAtExit(const RetainAtExit&) = delete;
  RetainAtExit& operator=(const RetainAtExit&) = delete;

 private:
  CallMemory& memory_;
  hipStream_t stream_;
};

}  // namespace hip_ext
