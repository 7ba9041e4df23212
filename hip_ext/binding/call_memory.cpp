#include "call_memory.h"

#include <mutex>
#include <utility>

#include "hip_host/retention.h"

namespace hip_ext {

struct CallPieces {
  struct Range {
    const void* memory;
    size_t bytes;
  };

  std::vector<Range> ranges;
  std::vector<std::shared_ptr<void>> owners;
  CallPieces* next = nullptr;

  ~CallPieces() {
    for (const Range& range : ranges) {
      GPU_CHECK_NOEXCEPT(hip_host::unregister_device_memory(range.memory, range.bytes));
    }
  }
};

namespace {

// Never destroyed: streams may finish calls while the process exits.
struct FinishedCalls {
  std::mutex mutex;
  CallPieces* first = nullptr;
};

FinishedCalls& finished_calls() {
  static FinishedCalls* calls = new FinishedCalls;
  return *calls;
}

// Runs where the last reference is dropped, which is a stream's thread: it only links, so that it
// needs no memory, no lock but its own, and nothing of Python.
void finish(CallPieces* pieces) noexcept {
  FinishedCalls& calls = finished_calls();
  const std::lock_guard<std::mutex> lock(calls.mutex);
  pieces->next = std::exchange(calls.first, pieces);
}

}  // namespace

CallMemory::CallMemory() : pieces_(new CallPieces, finish) {}

void CallMemory::keep(std::shared_ptr<void> owner) { pieces_->owners.push_back(std::move(owner)); }

void CallMemory::keep_arguments(std::shared_ptr<void> tensors) { keep(std::move(tensors)); }

void CallMemory::declare(const void* memory, size_t bytes) {
  if (bytes == 0) return;
  pieces_->ranges.reserve(pieces_->ranges.size() + 1);
  GPU_CHECK(hip_host::register_device_memory(memory, bytes));
  pieces_->ranges.push_back({memory, bytes});
}

void CallMemory::keep_for_graph(std::shared_ptr<void> block) { keep(std::move(block)); }

void CallMemory::retain(hipStream_t stream) noexcept {
  const hipError_t error = hip_host::retain_to_tail(stream, std::move(pieces_));
  // The launch has said so already, and a stream that is gone has nothing of this call to do.
  if (error != hipErrorContextIsDestroyed) GPU_CHECK_NOEXCEPT(error);
}

void CallMemory::release_finished() {
  CallPieces* first = nullptr;
  {
    FinishedCalls& calls = finished_calls();
    const std::lock_guard<std::mutex> lock(calls.mutex);
    first = std::exchange(calls.first, nullptr);
  }
  while (first != nullptr) {
    const std::unique_ptr<CallPieces> pieces(first);
    first = pieces->next;
  }
}

}  // namespace hip_ext
