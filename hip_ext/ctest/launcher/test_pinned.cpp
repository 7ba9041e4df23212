// Pinned blocks: reuse only after the tail, and never a free in a host function.
#include <set>

#include "hip_ext/pinned.h"
#include "problem.h"
#include "steering.h"

using namespace hip_ext;
using namespace hip_ext_test;

namespace {

TEST(the_pool_reuses_a_dropped_block_and_no_other) {
  PinnedPool pool;
  std::shared_ptr<void> first = pool.allocate(100), second = pool.allocate(100);
  CHECK(first != second);
  void* address = first.get();
  first.reset();
  CHECK(pool.free_blocks() == 1);
  CHECK(pool.allocate(5000).get() != address);  // another size class
  CHECK(pool.allocate(4096).get() == address);
}

TEST(reserve_makes_blocks_and_trim_gives_them_up) {
  PinnedPool pool;
  pool.reserve(10000, 3);
  CHECK(pool.free_blocks() == 3);
  pool.trim();
  CHECK(pool.free_blocks() == 0);
  PinnedHostReleaser::instance().wait_until_empty();
}

TEST(blocks_outlive_their_pool) {
  std::shared_ptr<void> block;
  {
    PinnedPool pool;
    block = pool.allocate(64);
  }
  *static_cast<int*>(block.get()) = 1;
  block.reset();
  PinnedHostReleaser::instance().wait_until_empty();
}

// Launches `calls` backwards behind a held kernel and gives the blocks that they used.
std::vector<void*> blocks_behind_a_held_kernel(Problem& problem, PinnedPool& pool, int calls) {
  std::vector<void*> used;
  Allocators allocators = problem.allocators();
  allocators.pinned_host_alloc = [&](size_t bytes) {
    std::shared_ptr<void> block = pool.allocate(bytes);
    used.push_back(block.get());
    return block;
  };
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  held.wait_started();
  for (int i = 0; i < calls; ++i) fmha_bwd(problem.params(), {}, allocators, stream);
  CHECK(pool.free_blocks() == 0);
  held.release();
  OK(hipStreamSynchronize(stream));
  OK(hipStreamDestroy(stream));
  return used;
}

TEST(a_block_is_not_handed_out_before_its_tail_has_run) {
  Problem problem({});
  problem.run(WorkspaceMode::async);
  PinnedPool pool;
  pool.reserve(4500, 4);
  const std::vector<void*> first = blocks_behind_a_held_kernel(problem, pool, 4);
  CHECK(std::set<void*>(first.begin(), first.end()).size() == 4);
  CHECK(pool.free_blocks() == 4);
  const std::vector<void*> second = blocks_behind_a_held_kernel(problem, pool, 4);
  CHECK(std::set<void*>(second.begin(), second.end()) ==
        std::set<void*>(first.begin(), first.end()));
}

TEST(bare_blocks_are_freed_off_the_callback_thread) {
  Problem problem({});
  Allocators allocators = problem.allocators();
  allocators.pinned_host_alloc = allocate_pinned;
  hipStream_t stream = make_stream();
  for (int i = 0; i < 20; ++i) {
    fmha_bwd(problem.params(), {}, allocators, stream);
    void* other = nullptr;  // frees on this thread while host functions run on another
    OK(hipMalloc(&other, 64));
    OK(hipFree(other));
  }
  OK(hipStreamSynchronize(stream));
  CHECK(problem.compare(problem.download()).empty());
  PinnedHostReleaser::instance().wait_until_empty();
  OK(hipStreamDestroy(stream));
}

TEST(a_releaser_frees_everything_before_it_ends_and_takes_nothing_after) {
  std::vector<void*> blocks(10);
  for (void*& block : blocks) OK(hipHostMalloc(&block, 64, hipHostMallocDefault));
  PinnedHostReleaser releaser;
  for (size_t i = 0; i < 9; ++i) CHECK(releaser.enqueue(blocks[i]));
  releaser.stop();
  hipPointerAttribute_t attributes;
  for (size_t i = 0; i < 9; ++i) {
    const bool gone = hipPointerGetAttributes(&attributes, blocks[i]) != hipSuccess ||
                      attributes.type == hipMemoryTypeUnregistered;
    CHECK(gone);
  }
  CHECK(!releaser.enqueue(blocks[9]));
  OK(hipHostFree(blocks[9]));
}

}  // namespace

CHECK_MAIN()
