#include "launch.h"

#include <utility>

#include "call_memory.h"
#include "checks.h"
#include "current_stream.h"
#include "hip_ext/launcher.h"
#include "hip_ext/reduce_heads.h"
#include "parameters.h"
#include "pinned_choice.h"
#include "refusal.h"

namespace hip_ext {

namespace {

// As `hip_ext._library` numbers them.
WorkspaceMode mode_of(int64_t workspace) {
  if (workspace == 0) return WorkspaceMode::sync;
  if (workspace == 1) return WorkspaceMode::async;
  if (workspace == 2) return WorkspaceMode::device;
  refuse("workspace", workspace, ", expected 0 (sync), 1 (async) or 2 (device)");
}

// Device memory of this call's own.
TensorView own(const Shape& sizes, int32_t type, const TensorView& like, CallMemory& memory) {
  OwnedTensor tensor = empty(sizes, contiguous_strides(sizes), type, like);
  const TensorView view(tensor.get());
  memory.keep(std::move(tensor));
  memory.declare(view.data_ptr(), view.span());
  return view;
}

OwnedTensor softmax_d_of(const Call& call) {
  const TensorView& lse = call.tensors.softmax_lse;
  const int64_t heads = lse.size(-2), rows = lse.size(-1);
  const Shape strides{call.group ? 0 : heads * rows, rows, 1};
  OwnedTensor made = empty({call.batch, heads, rows}, strides, types().float32, lse);
  call.held->back() = referenced(made);
  return made;
}

// dk and dv with one head per query head; the outputs themselves where that is the same.
class ExpandedGradients {
 public:
  ExpandedGradients(const BackwardTensors& t, CallMemory& memory) : dk(t.dk), dv(t.dv) {
    if (t.q.size(-2) == t.k.size(-2)) return;
    dk = own(with_heads_of(t.q, t.dk), t.q.type(), t.q, memory);
    dv = own(with_heads_of(t.q, t.dv), t.q.type(), t.q, memory);
  }

  TensorView dk, dv;

 private:
  static Shape with_heads_of(const TensorView& q, const TensorView& gradient) {
    Shape shape{};
    for (int64_t i = 0; i < gradient.dim() - 2; ++i) shape.push_back(gradient.size(i));
    shape.push_back(q.size(-2));
    shape.push_back(gradient.size(-1));
    return shape;
  }
};

void declare_borders(const GroupArguments& group, CallMemory& memory) {
  for (const TensorView* borders : {&group.cu_seqlens_q, &group.cu_seqlens_k}) {
    memory.declare(borders->data_ptr(), borders->span());
  }
  for (const auto* borders : {&group.cu_seqlens_q_padded, &group.cu_seqlens_k_padded}) {
    if (*borders) memory.declare((*borders)->data_ptr(), (*borders)->span());
  }
}

void fill_with_zeros(const TensorView& tensor, hipStream_t stream, CallMemory& memory) {
  if (tensor.numel() == 0) return;
  memory.declare(tensor.data_ptr(), tensor.span());
  GPU_CHECK(hipMemsetAsync(tensor.data_ptr(), 0, tensor.span(), stream));
}

void fill_all_with_zeros(const BackwardTensors& t, const TensorView& softmax_d, hipStream_t stream,
                         CallMemory& memory) {
  check_contiguous(t);
  for (const TensorView* tensor : {&t.dq, &t.dk, &t.dv, &softmax_d}) {
    fill_with_zeros(*tensor, stream, memory);
  }
}

void reduce(const TensorView& expanded, const TensorView& reduced, const FmhaBwdParams& p,
            hipStream_t stream) {
  if (p.nhead_q == p.nhead_k || reduced.numel() == 0) return;
  ReduceHeadsParams heads{};
  heads.expanded = expanded.data_ptr();
  heads.reduced = reduced.data_ptr();
  heads.reduced_stride = strides_of(reduced);
  heads.batch = p.batch;
  heads.rows = p.seqlen_k;
  heads.seqstart = p.seqstart_k;
  heads.cu_seqlen = p.cu_seqlen_k;
  heads.nhead_k = p.nhead_k;
  heads.group = p.nhead_q / p.nhead_k;
  heads.columns = int32_t(reduced.size(-1));
  heads.dtype = p.dtype;
  reduce_heads(heads, stream);
}

struct Memory {
  CallMemory& memory;
  const TensorView& like;
  hipStream_t stream;

  void* workspace(size_t bytes, bool zero_init) const {
    void* data = own({int64_t(bytes)}, types().byte, like, memory).data_ptr();
    if (zero_init) GPU_CHECK(hipMemsetAsync(data, 0, bytes, stream));
    return data;
  }
};

// `memory` has to live as long.
Allocators allocators_from(const Memory& memory) {
  Allocators allocators;
  allocators.workspace_alloc = [&memory](size_t bytes, bool zero_init) {
    return memory.workspace(bytes, zero_init);
  };
  allocators.pinned_host_alloc = allocate_chosen;
  return allocators;
}

}  // namespace

OwnedTensor launch(const Call& call) {
  CallMemory::release_finished();
  const BackwardTensors& t = call.tensors;
  const OnDeviceOf device(t.q);
  const hipStream_t stream = stream_of(call.choices.stream, t.q);
  LaunchOptions options;
  options.workspace = mode_of(call.choices.workspace);
  OwnedTensor softmax_d = softmax_d_of(call);

  CallMemory memory;
  const RetainAtExit retain(memory, stream);
  memory.keep_arguments(call.held);
  if (call.group) declare_borders(*call.group, memory);
  const ExpandedGradients expanded(t, memory);
  const TensorView statistics(softmax_d.get());
  const FmhaBwdParams params = parameters_of(call, expanded.dk, expanded.dv, statistics);
  const Memory of_call{memory, t.q, stream};
  const Allocators allocators = allocators_from(of_call);
  if (call.group && call.group->zero_tensors) {
    validate(params, options, allocators);
    fill_all_with_zeros(t, statistics, stream, memory);
  }
  const LaunchResult result = fmha_bwd(params, options, allocators, stream);
  if (result.graph_block) memory.keep_for_graph(result.graph_block);
  reduce(expanded.dk, t.dk, params, stream);
  reduce(expanded.dv, t.dv, params, stream);
  return softmax_d;
}

}  // namespace hip_ext
