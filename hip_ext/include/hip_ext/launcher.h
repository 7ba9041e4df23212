// One FMHA backward on a stream, with its workspace prepared in one of three ways.
//
//   sync     two hipMemcpy read the sequence borders, the host packs the metadata, allocates what
//            is needed and no more, and copies it back. Blocks the host for all queued before it.
//   async    a workspace of the upper bound; copy, pack and copy back are stream operations.
//   device   a workspace of the upper bound; one small kernel writes the metadata.
//
// In all modes the preparation is enqueued before the three kernels (dot_do_o, dq_dk_dv,
// convert_dq). dot_do_o needs no workspace and could go first; on one stream that moves it, and
// hides nothing: later work still follows the preparation. One order keeps the modes comparable.
//
// Errors: std::invalid_argument for arguments, before anything is allocated or enqueued; GpuError
// for a failed runtime call, and for an earlier pack that found bad sequence borders (see check()).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"

namespace hip_ext {

enum class WorkspaceMode { sync, async, device };

// How the launcher gets memory; it has no other allocator.
struct Allocators {
  // Device memory, at least 16-aligned, valid for the stream's work of this call (under capture:
  // until the graph is destroyed). Must be zero when zero_init is true. Called at most once.
  std::function<void*(size_t bytes, bool zero_init)> workspace_alloc;

  // Pinned host memory, at least 16-aligned. Needed by the async mode only. The last reference is
  // dropped in a host function at the tail of the stream, so the deleter must not call the runtime,
  // throw, wait or take Python's lock. Under capture it must not allocate (see
  // PinnedPool::reserve).
  std::function<std::shared_ptr<void>(size_t bytes)> pinned_host_alloc;
};

struct LaunchOptions {
  WorkspaceMode workspace = WorkspaceMode::async;

  // For the test that shows the race: leaves out the waits that the sync mode adds on a
  // hipStreamNonBlocking stream.
  bool keep_legacy_race = false;

  // For benchmarks: called when the preparation is enqueued and the kernels are not yet. They
  // follow if it returns true, or is empty.
  std::function<bool()> prepared;
};

struct LaunchResult {
  size_t workspace_bytes = 0;  // asked from workspace_alloc
  size_t metadata_bytes = 0;   // its first part; dq_acc (fp32) follows
  size_t pinned_bytes = 0;     // asked from pinned_host_alloc; 0 unless async
  bool zeroed = false;         // dq_acc was cleared by a memset

  // sync on a hipStreamNonBlocking stream: the copies run on the null stream, which such a stream
  // does not wait for, so that this call waited for the stream itself. Tell the user.
  bool waited_for_stream = false;

  // async under stream capture: the graph's pinned block. Every replay uses it, so keep it (and the
  // workspace, and the tensors) until the graph is destroyed. Null otherwise.
  std::shared_ptr<void> graph_block;
};

// Enqueues the backward on `stream`. Blocks the host in sync mode, and only there.
// sync refuses a capturing stream; async and device can be captured and replayed any number of
// times.
LaunchResult fmha_bwd(const FmhaBwdParams& params, const LaunchOptions& options,
                      const Allocators& allocators, hipStream_t stream);

// Throws std::invalid_argument if these arguments can not be launched; enqueues and allocates
// nothing. fmha_bwd begins with it.
void validate(const FmhaBwdParams& params, const LaunchOptions& options,
              const Allocators& allocators);

// Throws GpuError if a pack (the async mode's host function) failed since the last check; every
// fmha_bwd begins with it. To see all calls so far, synchronize first. The dq of the failed call is
// NaN. The flag is one per process. Sequence borders that the device mode finds bad only give the
// NaN, as nothing comes back to the host.
void check();

}  // namespace hip_ext
