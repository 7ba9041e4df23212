// The async mode's pinned block: who fills it, who keeps it, and the host function that packs in
// it.
#pragma once

#include <memory>
#include <utility>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"
#include "hip_ext/workspace.h"

namespace hip_ext {

// A sentence for the user.
const char* describe(PackFailure failure);

// Bytes of the pinned block: closure, seqstart_q, seqstart_k, metadata, each 16-aligned.
size_t pack_block_bytes(const WorkspacePlan& plan);

// Enqueues the copies of the borders to the host, the pack, and the copy of the metadata back.
void enqueue_pack(const FmhaBwdParams& params, const WorkspacePlan& plan, void* block,
                  void* workspace, hipStream_t stream);

// Keeps a pinned block until the stream has passed the point where this object ends, with or
// without an exception. Under capture a tail function would run, and drop the block, once a replay:
// there the block goes to the caller by release(), or is lost with the failed capture.
class BlockLease {
 public:
  BlockLease(std::shared_ptr<void> block, hipStream_t stream, bool capturing)
      : block_(new std::shared_ptr<void>(std::move(block))),
        stream_(stream),
        capturing_(capturing) {}
  BlockLease(const BlockLease&) = delete;
  BlockLease& operator=(const BlockLease&) = delete;

  ~BlockLease() {
    if (block_ == nullptr || capturing_) return;
    const auto drop = [](void* block) { delete static_cast<std::shared_ptr<void>*>(block); };
    // If this fails nobody knows when the block is free: it is lost, not reused.
    GPU_CHECK_NOEXCEPT(hipLaunchHostFunc(stream_, drop, block_));
  }

  void* get() const { return block_->get(); }

  // Hands the block to the caller instead of the stream.
  std::shared_ptr<void> release() {
    std::shared_ptr<void> block = std::move(*block_);
    delete std::exchange(block_, nullptr);
    return block;
  }

 private:
  std::shared_ptr<void>* block_;
  hipStream_t stream_;
  bool capturing_;
};

}  // namespace hip_ext
