#include "hip_ext/launcher.h"

#include <atomic>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hip_ext/workspace.h"
#include "kernels.h"
#include "pack_block.h"
#include "range.h"

namespace hip_ext {

namespace {

// The property query takes milliseconds on some drivers: once per device.
int compute_units() {
  static std::atomic<int> known[64];
  int device = 0;
  GPU_CHECK(hipGetDevice(&device));
  if (device < 64 && known[device] > 0) return known[device];
  hipDeviceProp_t properties;
  GPU_CHECK(hipGetDeviceProperties(&properties, device));
  if (device < 64) known[device] = properties.multiProcessorCount;
  return properties.multiProcessorCount;
}

WorkspacePlan plan_for(const FmhaBwdParams& params) {
  const bool persistent =
      params.mode == SequenceMode::batch && params.accumulation == Accumulation::deterministic;
  return plan_workspace(params, persistent ? compute_units() : 1);
}

void* allocate_workspace(const Allocators& allocators, size_t bytes) {
  void* workspace = allocators.workspace_alloc(bytes, /*zero_init=*/false);
  if (workspace == nullptr || reinterpret_cast<uintptr_t>(workspace) % 16 != 0) {
    throw GpuError("workspace_alloc gave no 16-aligned memory for " + std::to_string(bytes) +
                   " bytes");
  }
  return workspace;
}

std::shared_ptr<void> allocate_block(const Allocators& allocators, size_t bytes) {
  std::shared_ptr<void> block = allocators.pinned_host_alloc(bytes);
  if (block == nullptr || reinterpret_cast<uintptr_t>(block.get()) % 16 != 0) {
    throw GpuError("pinned_host_alloc gave no 16-aligned memory for " + std::to_string(bytes) +
                   " bytes");
  }
  return block;
}

void launch_kernels(const FmhaBwdParams& params, const LaunchOptions& options,
                    const WorkspacePlan& plan, void* workspace, hipStream_t stream) {
  if (options.prepared && !options.prepared()) return;
  const WorkspaceView view = view_workspace(plan, workspace);
  launch_dot_do_o(params, stream);
  launch_dq_dk_dv(params, view, stream);
  launch_convert_dq(params, view, stream);
}

// Clears dq_acc up to the bound, where the mode needs it. Returns whether it did.
bool enqueue_zero(const WorkspacePlan& plan, void* workspace, hipStream_t stream) {
  if (!plan.needs_zero || plan.dq_acc_bound == 0) return false;
  GPU_CHECK(hipMemsetAsync(static_cast<char*>(workspace) + plan.metadata_bytes(), 0,
                           4 * size_t(plan.dq_acc_bound), stream));
  return true;
}

bool is_capturing(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  GPU_CHECK(hipStreamIsCapturing(stream, &status));
  return status != hipStreamCaptureStatusNone;
}

LaunchResult launch_async(const FmhaBwdParams& params, const LaunchOptions& options,
                          const Allocators& allocators, hipStream_t stream) {
  std::optional<Range> preparing("hip_ext prepare async");
  const bool capturing = is_capturing(stream);
  const WorkspacePlan plan = plan_for(params);
  LaunchResult result;
  result.metadata_bytes = plan.metadata_bytes();
  result.workspace_bytes = plan.bound_bytes();
  result.pinned_bytes = pack_block_bytes(plan);
  void* workspace = allocate_workspace(allocators, result.workspace_bytes);
  BlockLease lease(allocate_block(allocators, result.pinned_bytes), stream, capturing);

  result.zeroed = enqueue_zero(plan, workspace, stream);
  enqueue_pack(params, plan, lease.get(), workspace, stream);
  preparing.reset();
  launch_kernels(params, options, plan, workspace, stream);
  if (capturing) result.graph_block = lease.release();
  return result;
}

LaunchResult launch_device(const FmhaBwdParams& params, const LaunchOptions& options,
                           const Allocators& allocators, hipStream_t stream) {
  std::optional<Range> preparing("hip_ext prepare device");
  const WorkspacePlan plan = plan_for(params);
  LaunchResult result;
  result.metadata_bytes = plan.metadata_bytes();
  result.workspace_bytes = plan.bound_bytes();
  void* workspace = allocate_workspace(allocators, result.workspace_bytes);

  result.zeroed = enqueue_zero(plan, workspace, stream);
  launch_write_metadata(plan, params, workspace, stream);
  preparing.reset();
  launch_kernels(params, options, plan, workspace, stream);
  return result;
}

// Blocks the host until the device has the borders ready and they are here.
std::vector<int32_t> copy_borders_sync(const int32_t* borders, int32_t batch) {
  std::vector<int32_t> copy(size_t(batch) + 1);
  GPU_CHECK(hipMemcpy(copy.data(), borders, 4 * copy.size(), hipMemcpyDeviceToHost));
  return copy;
}

// The legacy stream waits for blocking streams only. Returns whether it does not for this one.
bool is_non_blocking(hipStream_t stream) {
  if (stream == nullptr) return false;
  unsigned flags = 0;
  GPU_CHECK(hipStreamGetFlags(stream, &flags));
  return (flags & hipStreamNonBlocking) != 0;
}

struct HostMetadata {
  std::vector<int64_t> words;
  size_t dq_acc_bytes;
};

// Blocks the host: reads the borders of group mode through the null stream, and packs.
HostMetadata pack_sync(const FmhaBwdParams& params, const WorkspacePlan& plan) {
  std::vector<int32_t> seqstart_q, seqstart_k;
  if (plan.reads_borders) {
    seqstart_q = copy_borders_sync(params.seqstart_q, params.batch);
    seqstart_k = copy_borders_sync(params.seqstart_k, params.batch);
  }
  HostMetadata metadata = {std::vector<int64_t>(plan.metadata_bytes() / 8), 0};
  const PackResult packed =
      pack_metadata(plan, seqstart_q.data(), seqstart_k.data(), std::numeric_limits<int64_t>::max(),
                    reinterpret_cast<int32_t*>(metadata.words.data()),
                    metadata.words.data() + plan.offsets_at() / 8);
  if (packed.failure != PackFailure::none) {
    throw std::invalid_argument(std::string("fmha_bwd: ") + describe(packed.failure));
  }
  metadata.dq_acc_bytes = 4 * size_t(packed.dq_acc_elements);
  return metadata;
}

// Blocks the host, as its steps on the null stream do.
LaunchResult launch_sync(const FmhaBwdParams& params, const LaunchOptions& options,
                         const Allocators& allocators, hipStream_t stream) {
  if (is_capturing(stream)) {
    throw std::invalid_argument(
        "fmha_bwd: the sync workspace copies through the host and can not be captured; use async "
        "or device");
  }
  std::optional<Range> preparing("hip_ext prepare sync");
  const WorkspacePlan plan = plan_for(params);
  LaunchResult result;
  result.waited_for_stream = is_non_blocking(stream) && !options.keep_legacy_race;
  if (result.waited_for_stream) GPU_CHECK(hipStreamSynchronize(stream));

  const HostMetadata metadata = pack_sync(params, plan);
  result.metadata_bytes = plan.metadata_bytes();
  result.workspace_bytes = result.metadata_bytes + metadata.dq_acc_bytes;
  result.zeroed = plan.needs_zero && metadata.dq_acc_bytes > 0;
  char* workspace = static_cast<char*>(allocate_workspace(allocators, result.workspace_bytes));
  GPU_CHECK(
      hipMemcpy(workspace, metadata.words.data(), result.metadata_bytes, hipMemcpyHostToDevice));
  if (result.zeroed) {
    GPU_CHECK(hipMemset(workspace + result.metadata_bytes, 0, metadata.dq_acc_bytes));
    // The memset may still run when it returns, and this stream would not wait for it either.
    if (result.waited_for_stream) GPU_CHECK(hipStreamSynchronize(nullptr));
  }
  preparing.reset();
  launch_kernels(params, options, plan, workspace, stream);
  return result;
}

}  // namespace

LaunchResult fmha_bwd(const FmhaBwdParams& params, const LaunchOptions& options,
                      const Allocators& allocators, hipStream_t stream) {
  validate(params, options, allocators);
  check();
  switch (options.workspace) {
    case WorkspaceMode::sync:
      return launch_sync(params, options, allocators, stream);
    case WorkspaceMode::async:
      return launch_async(params, options, allocators, stream);
    case WorkspaceMode::device:
      return launch_device(params, options, allocators, stream);
  }
  throw std::invalid_argument("fmha_bwd: workspace must be sync, async or device");
}

}  // namespace hip_ext
