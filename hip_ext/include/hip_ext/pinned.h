// Pinned host memory whose last reference may be dropped in a host function.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hip_ext/gpu.h"

namespace hip_ext {

// Frees pinned memory on its own thread. A host function runs while the driver holds its locks, and
// hipHostFree wants them: freeing there deadlocks, handing over here does not.
class PinnedHostReleaser {
 public:
  PinnedHostReleaser();
  ~PinnedHostReleaser();  // blocks the host: see stop()
  PinnedHostReleaser(const PinnedHostReleaser&) = delete;
  PinnedHostReleaser& operator=(const PinnedHostReleaser&) = delete;

  // One per process. It is stopped at exit, yet never destroyed, so that host functions which run
  // later still find it.
  static PinnedHostReleaser& instance();

  // Takes over a block of hipHostMalloc; never calls the runtime. After stop() the block is left to
  // the end of the process, and false is returned.
  bool enqueue(void* block) noexcept;

  // Blocks the host until every enqueued block is freed.
  void wait_until_empty();

  // Blocks the host: frees what is enqueued and ends the thread. May be called twice.
  void stop() noexcept;

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<void*> waiting_;
  bool stopping_ = false;
  bool freeing_ = false;
  std::thread thread_;
};

// A block of hipHostMalloc (which may block the host); dropping the last reference hands it to the
// releaser. Usable as Allocators::pinned_host_alloc.
std::shared_ptr<void> allocate_pinned(size_t bytes);

// Keeps pinned blocks for reuse, by powers of two. A block returns when its last reference is
// dropped, which for the launcher is the tail of the stream: it is never handed out before.
class PinnedPool {
 public:
  PinnedPool();
  ~PinnedPool();  // free blocks go to the releaser, those in use follow when they are dropped
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // One per process, never destroyed.
  static PinnedPool& instance();

  // A free block, or a new one of hipHostMalloc, which may block the host.
  std::shared_ptr<void> allocate(size_t bytes);

  // Makes sure that `count` blocks of this size are free: before a capture, where hipHostMalloc may
  // be refused. May block the host.
  void reserve(size_t bytes, size_t count);

  // Hands all free blocks to the releaser.
  void trim();

  size_t free_blocks() const;

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;  // shared with the blocks in use
};

}  // namespace hip_ext
