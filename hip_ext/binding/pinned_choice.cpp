#include "pinned_choice.h"

#include <torch/csrc/stable/stableivalue_conversions.h>

#include <atomic>

#include "hip_ext/pinned.h"
#include "refusal.h"
#include "tensor_view.h"

namespace hip_ext {

namespace {

enum class PinnedKind { pool, bare, torch };

std::atomic<PinnedKind> chosen{PinnedKind::pool};

// From torch's caching host allocator. Without recorded streams it takes a block back without a
// runtime call, so that a host function may drop the last reference.
std::shared_ptr<void> allocate_from_torch(size_t bytes) {
  const int64_t size = int64_t(bytes), stride = 1;
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided_pinned(
      1, &size, &stride, types().byte, aoti_torch_device_type_cpu(), 0, &made));
  std::shared_ptr<void> owner = OwnedTensor(made);
  return {std::move(owner), TensorView(made).data_ptr()};
}

}  // namespace

void choose_pinned_memory(const std::string& kind) {
  if (kind == "pool") {
    chosen = PinnedKind::pool;
  } else if (kind == "bare") {
    chosen = PinnedKind::bare;
  } else if (kind == "torch") {
#if defined(HIP_EXT_TARGET_HOST)
    refuse("kind", "'torch': its pinned memory is a GPU's; the host target has 'pool' and 'bare'");
#endif
    chosen = PinnedKind::torch;
  } else {
    refuse("kind", "'", kind, "', expected 'pool', 'bare' or 'torch'");
  }
}

std::shared_ptr<void> allocate_chosen(size_t bytes) {
  switch (chosen.load()) {
    case PinnedKind::bare:
      return allocate_pinned(bytes);
    case PinnedKind::torch:
      return allocate_from_torch(bytes);
    case PinnedKind::pool:
      break;
  }
  return PinnedPool::instance().allocate(bytes);
}

}  // namespace hip_ext
