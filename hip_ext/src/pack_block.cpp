#include "pack_block.h"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "hip_ext/launcher.h"
#include "range.h"

namespace hip_ext {

namespace {

// Set by host functions, taken by check(). Trivially destructible: the last host functions of a
// process may run after its statics have ended.
std::atomic<PackFailure> pack_failure{PackFailure::none};

// The work of the pack, by value, in the pinned block itself: a captured graph calls it again on
// every replay, so that nothing here may be freed, moved or used up by a call.
struct PackClosure {
  WorkspacePlan plan;
  const int32_t* seqstart_q;
  const int32_t* seqstart_k;
  int32_t* nsplits;
  int64_t* offsets;
};

static_assert(std::is_trivially_copyable<PackClosure>::value &&
                  std::is_trivially_destructible<PackClosure>::value,
              "the block is reused without a destructor call");

// Runs on the runtime's thread: no runtime call, no exception, no allocation, no waiting. No tool
// records host functions by themselves; the range shows this one.
void pack_on_host(void* argument) {
  const Range range("hip_ext pack", Range::Thread::host_function);
  const PackClosure& closure = *static_cast<const PackClosure*>(argument);
  const PackResult result =
      pack_metadata(closure.plan, closure.seqstart_q, closure.seqstart_k, closure.plan.dq_acc_bound,
                    closure.nsplits, closure.offsets);
  if (result.failure != PackFailure::none) pack_failure = result.failure;
}

struct BlockLayout {
  size_t border_bytes;
  size_t seqstart_q_at;
  size_t seqstart_k_at;
  size_t metadata_at;
  size_t bytes;

  explicit BlockLayout(const WorkspacePlan& plan)
      : border_bytes(plan.reads_borders ? 4 * (size_t(plan.batch) + 1) : 0),
        seqstart_q_at(round_up(sizeof(PackClosure), 16)),
        seqstart_k_at(seqstart_q_at + round_up(border_bytes, 16)),
        metadata_at(seqstart_k_at + round_up(border_bytes, 16)),
        bytes(metadata_at + plan.metadata_bytes()) {}
};

PackClosure* write_closure(const WorkspacePlan& plan, const BlockLayout& layout, void* block) {
  char* base = static_cast<char*>(block);
  char* metadata = base + layout.metadata_at;
  std::memset(metadata, 0, plan.metadata_bytes());
  return new (block) PackClosure{plan, reinterpret_cast<int32_t*>(base + layout.seqstart_q_at),
                                 reinterpret_cast<int32_t*>(base + layout.seqstart_k_at),
                                 reinterpret_cast<int32_t*>(metadata),
                                 reinterpret_cast<int64_t*>(metadata + plan.offsets_at())};
}

}  // namespace

const char* describe(PackFailure failure) {
  if (failure == PackFailure::bound) {
    return "a sequence of keys is longer than max_seqlen_k (with padding: max_seqlen_k_padded)";
  }
  return "seqstart_q or seqstart_k does not start with 0, decreases, or ends beyond the tensor";
}

size_t pack_block_bytes(const WorkspacePlan& plan) { return BlockLayout(plan).bytes; }

void enqueue_pack(const FmhaBwdParams& params, const WorkspacePlan& plan, void* block,
                  void* workspace, hipStream_t stream) {
  const BlockLayout layout(plan);
  char* base = static_cast<char*>(block);
  PackClosure* closure = write_closure(plan, layout, block);
  if (plan.reads_borders) {
    GPU_CHECK(hipMemcpyAsync(base + layout.seqstart_q_at, params.seqstart_q, layout.border_bytes,
                             hipMemcpyDeviceToHost, stream));
    GPU_CHECK(hipMemcpyAsync(base + layout.seqstart_k_at, params.seqstart_k, layout.border_bytes,
                             hipMemcpyDeviceToHost, stream));
  }
  GPU_CHECK(hipLaunchHostFunc(stream, pack_on_host, closure));
  GPU_CHECK(hipMemcpyAsync(workspace, base + layout.metadata_at, plan.metadata_bytes(),
                           hipMemcpyHostToDevice, stream));
}

void check() {
  const PackFailure failure = pack_failure.exchange(PackFailure::none);
  if (failure == PackFailure::none) return;
  throw GpuError(std::string("fmha_bwd: an earlier async call failed, its dq is NaN: ") +
                 describe(failure));
}

}  // namespace hip_ext
