// The torch ops, on torch's stable ABI, so that one library serves every Python and every torch
// from 2.11 on. torch has released Python's lock before it calls an op, so none is held while the
// sync mode waits.
//
// The two backward ops take their arguments off torch's stack themselves: what torch's TORCH_BOX
// makes of them is copied twice on the way.
#include <torch/csrc/stable/library.h>

#include "arguments.h"
#include "call_memory.h"
#include "current_stream.h"
#include "hip_ext/launcher.h"
#include "launch.h"
#include "pinned_choice.h"
#include "profiler_ranges.h"

namespace hip_ext {
namespace {

void return_tensor(OwnedTensor tensor, StableIValue* stack) {
  stack[0] = torch::stable::detail::from(tensor.release());
}

void mha_bwd(StableIValue* stack, uint64_t, uint64_t) {
  return_tensor(launch(batch_call(stack)), stack);
}

void mha_varlen_bwd(StableIValue* stack, uint64_t, uint64_t) {
  return_tensor(launch(varlen_call(stack)), stack);
}

void check_for_failures() { hip_ext::check(); }

void release_finished() { CallMemory::release_finished(); }

void set_pinned_memory(std::string kind) { choose_pinned_memory(kind); }

}  // namespace
}  // namespace hip_ext

STABLE_TORCH_LIBRARY(hip_ext, library) {
  hip_ext::show_ranges_to_torch();
  library.def(
      "mha_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, "
      "float softmax_scale, bool is_causal, bool deterministic, Tensor(a!) dq, Tensor(b!) dk, "
      "Tensor(c!) dv, int workspace, int? stream) -> Tensor");
  library.def(
      "mha_varlen_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, "
      "Tensor cu_seqlens_q, Tensor cu_seqlens_k, int max_seqlen_q, int max_seqlen_k, "
      "float softmax_scale, bool zero_tensors, bool is_causal, bool deterministic, "
      "Tensor(a!) dq, Tensor(b!) dk, Tensor(c!) dv, "
      "Tensor? cu_seqlens_q_padded, Tensor? cu_seqlens_k_padded, int? max_seqlen_k_padded, "
      "int workspace, int? stream) -> Tensor");
  library.def("check() -> ()");
  library.def("release_finished() -> ()");
  library.def("set_pinned_memory(str kind) -> ()");
#if !defined(HIP_EXT_TARGET_HOST)
  library.def("stream_create(bool blocking) -> int");
  library.def("stream_destroy(int stream) -> ()");
  library.def("stream_is_blocking(int stream) -> bool");
#endif
}

#if defined(HIP_EXT_TARGET_HOST)
STABLE_TORCH_LIBRARY_IMPL(hip_ext, CPU, library) {
#else
STABLE_TORCH_LIBRARY_IMPL(hip_ext, CUDA, library) {
#endif
  library.impl("mha_bwd", &hip_ext::mha_bwd);
  library.impl("mha_varlen_bwd", &hip_ext::mha_varlen_bwd);
}

STABLE_TORCH_LIBRARY_IMPL(hip_ext, CompositeExplicitAutograd, library) {
  library.impl("check", TORCH_BOX(&hip_ext::check_for_failures));
  library.impl("release_finished", TORCH_BOX(&hip_ext::release_finished));
  library.impl("set_pinned_memory", TORCH_BOX(&hip_ext::set_pinned_memory));
#if !defined(HIP_EXT_TARGET_HOST)
  library.impl("stream_create", TORCH_BOX(&hip_ext::stream_create));
  library.impl("stream_destroy", TORCH_BOX(&hip_ext::stream_destroy));
  library.impl("stream_is_blocking", TORCH_BOX(&hip_ext::stream_is_blocking));
#endif
}
