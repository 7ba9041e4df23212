#include <utility>

#include "call_memory.h"

namespace hip_ext {

struct CallPieces {
  std::vector<std::shared_ptr<void>> owners;
  std::vector<std::shared_ptr<void>> for_graph;
};

namespace {

// Runs on a thread of the runtime when the graph and all that was instantiated from it are gone.
void drop(void* block) { delete static_cast<std::shared_ptr<void>*>(block); }

// A block that could not be handed over is lost and not reused: a replay may still write to it.
void give_to_graph(hipGraph_t graph, std::shared_ptr<void> block) noexcept {
  auto* owner = new std::shared_ptr<void>(std::move(block));
  hipUserObject_t object;
  if (!GPU_CHECK_NOEXCEPT(
          hipUserObjectCreate(&object, owner, drop, 1, hipUserObjectNoDestructorSync))) {
    return;
  }
  GPU_CHECK_NOEXCEPT(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
}

}  // namespace

CallMemory::CallMemory() : pieces_(std::make_shared<CallPieces>()) {}

void CallMemory::keep(std::shared_ptr<void> owner) { pieces_->owners.push_back(std::move(owner)); }

void CallMemory::keep_arguments(std::shared_ptr<void>) {}

void CallMemory::declare(const void*, size_t) {}

void CallMemory::keep_for_graph(std::shared_ptr<void> block) {
  pieces_->for_graph.push_back(std::move(block));
}

void CallMemory::retain(hipStream_t stream) noexcept {
  if (pieces_->for_graph.empty()) return;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  hipGraph_t graph = nullptr;
  GPU_CHECK_NOEXCEPT(
      hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr));
  for (std::shared_ptr<void>& block : pieces_->for_graph) give_to_graph(graph, std::move(block));
}

void CallMemory::release_finished() {}

}  // namespace hip_ext
