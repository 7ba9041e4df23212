// The torch ops: check the arguments, find the stream, call the launcher. The only file with torch.
//
// They are built on torch's stable ABI, so that one library serves every Python and every torch
// from 2.11 on. torch has released Python's lock before it calls an op, so none is held while the
// sync mode waits.
#include <dlfcn.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "call_memory.h"
#include "hip_ext/launcher.h"
#include "hip_ext/pinned.h"
#include "hip_ext/reduce_heads.h"
#include "tensor_view.h"

namespace hip_ext {
namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

struct Argument {
  const char* name;
  const TensorView& tensor;
};

// What both ops take.
struct BackwardTensors {
  TensorView dout, q, k, v, out, softmax_lse;
  TensorView dq, dk, dv, softmax_d;  // written
};

struct Choices {
  double softmax_scale;
  bool is_causal;
  bool deterministic;
  std::string workspace;
  std::optional<int64_t> stream;
};

// Numbers go through to_string and not through a stream, whose locale breaks where a compiler has
// put a second C++ library into this one.
inline std::string text_of(const char* text) { return text; }
inline std::string text_of(const std::string& text) { return text; }
inline std::string text_of(int64_t number) { return std::to_string(number); }

template <typename... Parts>
[[noreturn]] void refuse(const char* argument, const Parts&... parts) {
  throw std::invalid_argument(((std::string(argument) + ": ") + ... + text_of(parts)));
}

template <typename Sizes>
std::string list_of(const Sizes& sizes) {
  std::string text = "[";
  const char* between = "";
  for (const int64_t size : sizes) text += std::exchange(between, ", ") + std::to_string(size);
  return text + ']';
}

Shape joined(Shape front, const Shape& back) {
  for (const int64_t size : back) front.push_back(size);
  return front;
}

// `like` is q: everything has to be where q is.
void check(const Argument& argument, const Argument& like, ScalarType dtype, const Shape& shape) {
  const TensorView& tensor = argument.tensor;
  if (tensor.device() != like.tensor.device()) {
    refuse(argument.name, "is not on the device of ", like.name);
  }
  if (tensor.scalar_type() != dtype) {
    refuse(argument.name, "dtype ", toString(tensor.scalar_type()), ", expected ", toString(dtype));
  }
  if (!tensor.has(shape)) {
    refuse(argument.name, "shape ", list_of(tensor.tensor().sizes()), ", expected ",
           list_of(shape));
  }
  if (tensor.dim() > 0 && tensor.size(-1) > 1 && tensor.stride(-1) != 1) {
    refuse(argument.name, "its last dimension must be contiguous (stride ", tensor.stride(-1),
           "); call .contiguous()");
  }
}

void check_dim(const Argument& argument, int64_t dim, const char* dimensions) {
  if (argument.tensor.dim() == dim) return;
  refuse(argument.name, "shape ", list_of(argument.tensor.tensor().sizes()), ", expected ", dim,
         " dimensions ", dimensions);
}

int32_t fitting(const char* argument, int64_t value) {
  using Limits = std::numeric_limits<int32_t>;
  if (value >= Limits::min() && value <= Limits::max()) return int32_t(value);
  refuse(argument, value, " does not fit into 32 bits");
}

int32_t narrow(const Argument& argument, int64_t value) {
  if (value >= 0) return fitting(argument.name, value);
  refuse(argument.name, value, " does not fit into 32 bits");
}

// Results that share memory would overwrite each other, or what is still to be read. Tensors that
// only lie in the same range (slices of one packed dqkv) are fine, so the ranges say nothing.
void check_written(const BackwardTensors& t) {
  const Argument written[] = {{"dq", t.dq}, {"dk", t.dk}, {"dv", t.dv}};
  const Argument read[] = {{"q", t.q}, {"k", t.k}, {"v", t.v}, {"out", t.out}, {"dout", t.dout}};
  for (const Argument& one : written) {
    if (one.tensor.numel() == 0) continue;
    for (int64_t i = 0; i < one.tensor.dim(); ++i) {
      if (one.tensor.stride(i) == 0 && one.tensor.size(i) > 1) {
        refuse(one.name, "shows the same memory along dimension ", i, "; it cannot be written");
      }
    }
    const auto differs = [&one](const Argument& other) {
      if (&other == &one || other.tensor.data_ptr() != one.tensor.data_ptr()) return;
      refuse(one.name, "begins in memory where ", other.name, " does; give it its own");
    };
    for (const Argument& other : written) differs(other);
    for (const Argument& other : read) differs(other);
  }
}

// The last two dimensions are heads and columns, those before lead to the rows.
void check_tensors(const BackwardTensors& t, const Shape& rows_q, const Shape& rows_k,
                   const Shape& stats) {
  const Argument q{"q", t.q};
  const ScalarType dtype = t.q.scalar_type();
  if (dtype != ScalarType::Half && dtype != ScalarType::BFloat16) {
    refuse("q", "dtype ", toString(dtype), ", expected Half or BFloat16");
  }
  const int64_t heads_q = t.q.size(-2), heads_k = t.k.size(-2);
  const int64_t columns = t.q.size(-1), columns_v = t.v.size(-1);
  check(q, q, dtype, joined(rows_q, {heads_q, columns}));
  check({"k", t.k}, q, dtype, joined(rows_k, {heads_k, columns}));
  check({"v", t.v}, q, dtype, joined(rows_k, {heads_k, columns_v}));
  check({"out", t.out}, q, dtype, joined(rows_q, {heads_q, columns_v}));
  check({"dout", t.dout}, q, dtype, joined(rows_q, {heads_q, columns_v}));
  check({"dq", t.dq}, q, dtype, joined(rows_q, {heads_q, columns}));
  check({"dk", t.dk}, q, dtype, joined(rows_k, {heads_k, columns}));
  check({"dv", t.dv}, q, dtype, joined(rows_k, {heads_k, columns_v}));
  check({"softmax_lse", t.softmax_lse}, q, ScalarType::Float, stats);
  check({"softmax_d", t.softmax_d}, q, ScalarType::Float, stats);
  check_written(t);
  if (heads_k == 0 || heads_q % heads_k != 0) {
    refuse("k", heads_k, " heads do not divide the ", heads_q, " heads of q");
  }
  for (const Argument& argument : {q, Argument{"v", t.v}}) {
    const int64_t size = argument.tensor.size(-1);
    if (size >= 8 && size <= 256 && size % 8 == 0) continue;
    refuse(argument.name, "head size ", size, ", expected a multiple of 8 from 8 to 256");
  }
}

void check_borders(const Argument& argument, const Argument& q, int64_t entries) {
  check(argument, q, ScalarType::Int, {entries});
}

WorkspaceMode mode_of(const std::string& workspace) {
  if (workspace == "sync") return WorkspaceMode::sync;
  if (workspace == "async") return WorkspaceMode::async;
  if (workspace == "device") return WorkspaceMode::device;
  refuse("workspace", "'", workspace, "', expected 'sync', 'async' or 'device'");
}

#if !defined(HIP_EXT_TARGET_HOST)
using CurrentStream = AOTITorchError (*)(int32_t device, void** stream);

// Looked up where torch has loaded it, so that this library loads into a torch without a GPU too.
CurrentStream current_stream_of_torch() {
  static const CurrentStream found = [] {
    for (const char* library : {"libtorch_cuda.so", "libtorch_hip.so"}) {
      void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
      if (loaded == nullptr) continue;
      void* function = dlsym(loaded, "aoti_torch_get_current_cuda_stream");
      if (function != nullptr) return reinterpret_cast<CurrentStream>(function);
    }
    return static_cast<CurrentStream>(nullptr);
  }();
  if (found == nullptr) refuse("q", "this torch was built without a GPU's runtime");
  return found;
}
#endif

// Host target: the stream that Python names, else the null stream. GPU: torch's current one, which
// is also the one that torch's allocator gives memory for.
hipStream_t stream_of(const Choices& choices, [[maybe_unused]] const TensorView& q) {
#if defined(HIP_EXT_TARGET_HOST)
  return reinterpret_cast<hipStream_t>(uintptr_t(choices.stream.value_or(0)));
#else
  if (choices.stream) refuse("stream", "on a GPU the op runs on torch's current stream");
  void* stream = nullptr;
  if (current_stream_of_torch()(q.device().index(), &stream) != AOTI_TORCH_SUCCESS) {
    throw GpuError("torch gave no current stream for the device of q");
  }
  return static_cast<hipStream_t>(stream);
#endif
}

TensorStrides strides_of(const TensorView& tensor) {
  const bool batch = tensor.dim() == 4;
  return {batch ? tensor.stride(0) : 0, tensor.stride(-3), tensor.stride(-2)};
}

RowStatStrides row_strides_of(const TensorView& tensor) {
  const bool batch = tensor.dim() == 3;
  return {batch ? tensor.stride(0) : 0, tensor.stride(-2)};
}

// Bytes from the first element to behind the last one.
size_t span_of(const TensorView& tensor) {
  if (tensor.numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return size_t(last + 1) * tensor.tensor().element_size();
}

// For what the runtime copies or fills; kernels take any pointer. A GPU's runtime knows by itself
// what is whose, and its caller's tensors live long enough.
void keep_as_device_memory([[maybe_unused]] CallMemory& memory,
                           [[maybe_unused]] const TensorView& tensor) {
#if defined(HIP_EXT_TARGET_HOST)
  memory.keep(tensor.data_ptr(), span_of(tensor), std::make_shared<Tensor>(tensor.tensor()));
#endif
}

Tensor empty(const Shape& shape, ScalarType dtype, const TensorView& like, CallMemory& memory) {
  const torch::headeronly::IntHeaderOnlyArrayRef sizes(shape.begin(), size_t(shape.dim()));
  Tensor tensor = torch::stable::empty(sizes, dtype, std::nullopt, like.device());
  memory.keep(tensor.data_ptr(), span_of(TensorView(tensor)), std::make_shared<Tensor>(tensor));
  return tensor;
}

void keep_all([[maybe_unused]] CallMemory& memory, [[maybe_unused]] const BackwardTensors& t) {
#if defined(HIP_EXT_TARGET_HOST)
  for (const TensorView* tensor :
       {&t.dout, &t.q, &t.k, &t.v, &t.out, &t.softmax_lse, &t.dq, &t.dk, &t.dv, &t.softmax_d}) {
    memory.keep(std::make_shared<Tensor>(tensor->tensor()));
  }
#endif
}

// dk and dv with one head per query head; the outputs themselves where that is the same.
class ExpandedGradients {
 public:
  ExpandedGradients(const BackwardTensors& t, CallMemory& memory) : dk(t.dk), dv(t.dv) {
    if (t.q.size(-2) == t.k.size(-2)) return;
    Shape rows{};
    for (int64_t i = 0; i < t.k.dim() - 2; ++i) rows.push_back(t.k.size(i));
    const ScalarType dtype = t.q.scalar_type();
    own_dk_.emplace(empty(joined(rows, {t.q.size(-2), t.q.size(-1)}), dtype, t.q, memory));
    own_dv_.emplace(empty(joined(rows, {t.q.size(-2), t.v.size(-1)}), dtype, t.q, memory));
    dk = TensorView(*own_dk_);
    dv = TensorView(*own_dv_);
  }

  TensorView dk, dv;

 private:
  std::optional<Tensor> own_dk_, own_dv_;
};

FmhaBwdParams params_of(const BackwardTensors& t, const ExpandedGradients& expanded,
                        const Choices& choices) {
  FmhaBwdParams p{};
  p.q = t.q.data_ptr();
  p.k = t.k.data_ptr();
  p.v = t.v.data_ptr();
  p.out = t.out.data_ptr();
  p.dout = t.dout.data_ptr();
  p.lse = static_cast<const float*>(t.softmax_lse.data_ptr());
  p.softmax_d = static_cast<float*>(t.softmax_d.data_ptr());
  p.dq = t.dq.data_ptr();
  p.dk = expanded.dk.data_ptr();
  p.dv = expanded.dv.data_ptr();
  p.q_stride = strides_of(t.q);
  p.k_stride = strides_of(t.k);
  p.v_stride = strides_of(t.v);
  p.out_stride = strides_of(t.out);
  p.dout_stride = strides_of(t.dout);
  p.dq_stride = strides_of(t.dq);
  p.dk_stride = strides_of(expanded.dk);
  p.dv_stride = strides_of(expanded.dv);
  p.lse_stride = row_strides_of(t.softmax_lse);
  p.softmax_d_stride = row_strides_of(t.softmax_d);
  p.nhead_q = narrow({"q", t.q}, t.q.size(-2));
  p.nhead_k = narrow({"k", t.k}, t.k.size(-2));
  p.hdim_q = narrow({"q", t.q}, t.q.size(-1));
  p.hdim_v = narrow({"v", t.v}, t.v.size(-1));
  p.seqlen_q = narrow({"q", t.q}, t.q.size(-3));
  p.seqlen_k = narrow({"k", t.k}, t.k.size(-3));
  p.scale = float(choices.softmax_scale);
  p.dtype = t.q.scalar_type() == ScalarType::BFloat16 ? DataType::bf16 : DataType::fp16;
  p.mask = choices.is_causal ? Mask::causal : Mask::none;
  p.accumulation = choices.deterministic ? Accumulation::deterministic : Accumulation::accumulate;
  return p;
}

void fill_with_zeros(const Argument& argument, hipStream_t stream, CallMemory& memory) {
  if (argument.tensor.numel() == 0) return;
  if (!argument.tensor.tensor().is_contiguous()) {
    refuse(argument.name, "must be contiguous with zero_tensors; call .contiguous()");
  }
  keep_as_device_memory(memory, argument.tensor);
  GPU_CHECK(hipMemsetAsync(argument.tensor.data_ptr(), 0, span_of(argument.tensor), stream));
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

// Group mode has more to say than the tensors do.
struct GroupArguments {
  TensorView cu_seqlens_q, cu_seqlens_k;
  std::optional<TensorView> cu_seqlens_q_padded, cu_seqlens_k_padded;
  int64_t max_seqlen_q, max_seqlen_k;
  std::optional<int64_t> max_seqlen_k_padded;
  bool zero_tensors;
};

int64_t check_group(const GroupArguments& group, const TensorView& q) {
  const Argument like{"q", q};
  check_dim({"cu_seqlens_q", group.cu_seqlens_q}, 1, "[batch + 1]");
  const int64_t entries = group.cu_seqlens_q.size(0);
  if (entries < 2) refuse("cu_seqlens_q", "the batch must have at least one sequence");
  check_borders({"cu_seqlens_q", group.cu_seqlens_q}, like, entries);
  check_borders({"cu_seqlens_k", group.cu_seqlens_k}, like, entries);
  if (group.cu_seqlens_q_padded) {
    check_borders({"cu_seqlens_q_padded", *group.cu_seqlens_q_padded}, like, entries);
  }
  if (group.cu_seqlens_k_padded) {
    check_borders({"cu_seqlens_k_padded", *group.cu_seqlens_k_padded}, like, entries);
  }
  return entries - 1;
}

const int32_t* borders_in(const TensorView& tensor, CallMemory& memory) {
  keep_as_device_memory(memory, tensor);
  return static_cast<const int32_t*>(tensor.data_ptr());
}

void add_group(const GroupArguments& group, int64_t batch, FmhaBwdParams& p, CallMemory& memory) {
  p.mode = SequenceMode::group;
  p.batch = narrow({"cu_seqlens_q", group.cu_seqlens_q}, batch);
  p.max_seqlen_q = fitting("max_seqlen_q", group.max_seqlen_q);
  p.max_seqlen_k = fitting("max_seqlen_k", group.max_seqlen_k);
  p.max_seqlen_k_padded = fitting("max_seqlen_k_padded", group.max_seqlen_k_padded.value_or(0));
  const int32_t* cu_seqlens_q = borders_in(group.cu_seqlens_q, memory);
  const int32_t* cu_seqlens_k = borders_in(group.cu_seqlens_k, memory);
  p.seqstart_q = cu_seqlens_q;
  p.seqstart_k = cu_seqlens_k;
  if (group.cu_seqlens_q_padded) {
    p.seqstart_q = borders_in(*group.cu_seqlens_q_padded, memory);
    p.cu_seqlen_q = cu_seqlens_q;
  }
  if (group.cu_seqlens_k_padded) {
    p.seqstart_k = borders_in(*group.cu_seqlens_k_padded, memory);
    p.cu_seqlen_k = cu_seqlens_k;
  }
}

enum class PinnedKind { pool, bare, torch };

std::atomic<PinnedKind> pinned_kind{PinnedKind::pool};

// From torch's caching host allocator. Without recorded streams it takes a block back without a
// runtime call, so that a host function may drop the last reference.
std::shared_ptr<void> allocate_from_torch(size_t bytes) {
  const torch::stable::Device cpu(torch::headeronly::DeviceType::CPU);
  const auto tensor = std::make_shared<Tensor>(torch::stable::empty(
      {int64_t(bytes)}, ScalarType::Byte, std::nullopt, cpu, /*pin_memory=*/true));
  return {tensor, tensor->data_ptr()};
}

std::shared_ptr<void> allocate_chosen(size_t bytes) {
  switch (pinned_kind.load()) {
    case PinnedKind::bare:
      return allocate_pinned(bytes);
    case PinnedKind::torch:
      return allocate_from_torch(bytes);
    case PinnedKind::pool:
      break;
  }
  return PinnedPool::instance().allocate(bytes);
}

void set_pinned_memory(std::string kind) {
  if (kind == "pool") {
    pinned_kind = PinnedKind::pool;
  } else if (kind == "bare") {
    pinned_kind = PinnedKind::bare;
  } else if (kind == "torch") {
#if defined(HIP_EXT_TARGET_HOST)
    refuse("kind", "'torch': its pinned memory is a GPU's; the host target has 'pool' and 'bare'");
#endif
    pinned_kind = PinnedKind::torch;
  } else {
    refuse("kind", "'", kind, "', expected 'pool', 'bare' or 'torch'");
  }
}

Allocators allocators_for(const TensorView& like, hipStream_t stream, CallMemory& memory) {
  Allocators allocators;
  allocators.workspace_alloc = [&memory, &like, stream](size_t bytes, bool zero_init) {
    const Tensor block = empty({int64_t(bytes)}, ScalarType::Byte, like, memory);
    if (zero_init) GPU_CHECK(hipMemsetAsync(block.data_ptr(), 0, bytes, stream));
    return block.data_ptr();
  };
  allocators.pinned_host_alloc = allocate_chosen;
  return allocators;
}

void launch(const BackwardTensors& t, const Choices& choices, const GroupArguments* group,
            int64_t batch) {
  CallMemory::release_finished();
#if !defined(HIP_EXT_TARGET_HOST)
  const torch::stable::accelerator::DeviceGuard guard(t.q.device().index());
#endif
  const hipStream_t stream = stream_of(choices, t.q);
  LaunchOptions options;
  options.workspace = mode_of(choices.workspace);

  CallMemory memory;
  const RetainAtExit retain(memory, stream);
  keep_all(memory, t);
  const ExpandedGradients expanded(t, memory);
  FmhaBwdParams params = params_of(t, expanded, choices);
  params.batch = narrow({"q", t.q}, batch);
  if (group != nullptr) add_group(*group, batch, params, memory);
  const Allocators allocators = allocators_for(t.q, stream, memory);
  validate(params, options, allocators);
  if (group != nullptr && group->zero_tensors) {
    fill_with_zeros({"dq", t.dq}, stream, memory);
    fill_with_zeros({"dk", t.dk}, stream, memory);
    fill_with_zeros({"dv", t.dv}, stream, memory);
    fill_with_zeros({"softmax_d", t.softmax_d}, stream, memory);
  }
  const LaunchResult result = fmha_bwd(params, options, allocators, stream);
  if (result.graph_block) memory.keep_for_graph(result.graph_block);
  reduce(expanded.dk, t.dk, params, stream);
  reduce(expanded.dv, t.dv, params, stream);
}

// In the order of the ops' arguments.
template <typename... Tensors>
BackwardTensors viewed(const Tensors&... tensors) {
  return {TensorView(tensors)...};
}

std::optional<TensorView> viewed(const std::optional<Tensor>& tensor) {
  if (!tensor) return std::nullopt;
  return TensorView(*tensor);
}

void mha_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse,
             double softmax_scale, bool is_causal, bool deterministic, Tensor dq, Tensor dk,
             Tensor dv, Tensor softmax_d, std::string workspace, std::optional<int64_t> stream) {
  const BackwardTensors tensors = viewed(dout, q, k, v, out, softmax_lse, dq, dk, dv, softmax_d);
  check_dim({"q", tensors.q}, 4, "[batch, seqlen_q, heads, head size]");
  check_dim({"k", tensors.k}, 4, "[batch, seqlen_k, heads, head size]");
  check_dim({"v", tensors.v}, 4, "[batch, seqlen_k, heads, head size]");
  const int64_t batch = tensors.q.size(0);
  if (batch == 0) refuse("q", "the batch must have at least one sequence");
  const int64_t rows_q = tensors.q.size(1);
  check_tensors(tensors, {batch, rows_q}, {batch, tensors.k.size(1)},
                {batch, tensors.q.size(2), rows_q});
  launch(tensors, {softmax_scale, is_causal, deterministic, workspace, stream}, nullptr, batch);
}

void mha_varlen_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse,
                    Tensor cu_seqlens_q, Tensor cu_seqlens_k, int64_t max_seqlen_q,
                    int64_t max_seqlen_k, double softmax_scale, bool zero_tensors, bool is_causal,
                    bool deterministic, Tensor dq, Tensor dk, Tensor dv, Tensor softmax_d,
                    std::optional<Tensor> cu_seqlens_q_padded,
                    std::optional<Tensor> cu_seqlens_k_padded,
                    std::optional<int64_t> max_seqlen_k_padded, std::string workspace,
                    std::optional<int64_t> stream) {
  const BackwardTensors tensors = viewed(dout, q, k, v, out, softmax_lse, dq, dk, dv, softmax_d);
  check_dim({"q", tensors.q}, 3, "[total_q, heads, head size]");
  check_dim({"k", tensors.k}, 3, "[total_k, heads, head size]");
  check_dim({"v", tensors.v}, 3, "[total_k, heads, head size]");
  const int64_t rows_q = tensors.q.size(0);
  check_tensors(tensors, {rows_q}, {tensors.k.size(0)}, {tensors.q.size(1), rows_q});
  const GroupArguments group{TensorView(cu_seqlens_q),
                             TensorView(cu_seqlens_k),
                             viewed(cu_seqlens_q_padded),
                             viewed(cu_seqlens_k_padded),
                             max_seqlen_q,
                             max_seqlen_k,
                             max_seqlen_k_padded,
                             zero_tensors};
  const int64_t batch = check_group(group, tensors.q);
  launch(tensors, {softmax_scale, is_causal, deterministic, workspace, stream}, &group, batch);
}

void check_for_failures() { hip_ext::check(); }

void release_finished() { CallMemory::release_finished(); }

#if !defined(HIP_EXT_TARGET_HOST)
// A stream of torch's is non-blocking; this also makes one that the null stream waits for.
int64_t stream_create(bool blocking) {
  hipStream_t stream = nullptr;
  GPU_CHECK(hipStreamCreateWithFlags(&stream, blocking ? hipStreamDefault : hipStreamNonBlocking));
  return int64_t(reinterpret_cast<uintptr_t>(stream));
}

// A stream that is being captured counts as blocking: no call on it waits.
bool stream_is_blocking(int64_t stream) {
  const hipStream_t asked = reinterpret_cast<hipStream_t>(uintptr_t(stream));
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  GPU_CHECK(hipStreamIsCapturing(asked, &status));
  if (status != hipStreamCaptureStatusNone) return true;  // the question would end the capture
  unsigned flags = 0;
  GPU_CHECK(hipStreamGetFlags(asked, &flags));
  return (flags & hipStreamNonBlocking) == 0;
}

void stream_destroy(int64_t stream) {
  GPU_CHECK(hipStreamDestroy(reinterpret_cast<hipStream_t>(uintptr_t(stream))));
}
#endif

}  // namespace
}  // namespace hip_ext

STABLE_TORCH_LIBRARY(hip_ext, library) {
  library.def(
      "mha_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, "
      "float softmax_scale, bool is_causal, bool deterministic, Tensor(a!) dq, Tensor(b!) dk, "
      "Tensor(c!) dv, Tensor(d!) softmax_d, str workspace, int? stream) -> ()");
  library.def(
      "mha_varlen_bwd(Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, "
      "Tensor cu_seqlens_q, Tensor cu_seqlens_k, int max_seqlen_q, int max_seqlen_k, "
      "float softmax_scale, bool zero_tensors, bool is_causal, bool deterministic, "
      "Tensor(a!) dq, Tensor(b!) dk, Tensor(c!) dv, Tensor(d!) softmax_d, "
      "Tensor? cu_seqlens_q_padded, Tensor? cu_seqlens_k_padded, int? max_seqlen_k_padded, "
      "str workspace, int? stream) -> ()");
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
  library.impl("mha_bwd", TORCH_BOX(&hip_ext::mha_bwd));
  library.impl("mha_varlen_bwd", TORCH_BOX(&hip_ext::mha_varlen_bwd));
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
