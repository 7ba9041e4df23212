#include "hip_ext/pinned.h"

#include <algorithm>
#include <array>

namespace hip_ext {

PinnedHostReleaser::PinnedHostReleaser() {
  // Statics end in reverse order: the runtime's must begin before ours, to end after them.
  int devices = 0;
  GPU_CHECK(hipGetDeviceCount(&devices));
  thread_ = std::thread([this] { work(); });
}

PinnedHostReleaser::~PinnedHostReleaser() { stop(); }

PinnedHostReleaser& PinnedHostReleaser::instance() {
  struct StoppedAtExit {
    PinnedHostReleaser* releaser = new PinnedHostReleaser;
    ~StoppedAtExit() { releaser->stop(); }
  };
  static PinnedHostReleaser* const releaser = [] {
    static const StoppedAtExit stopped_at_exit;
    return stopped_at_exit.releaser;
  }();
  return *releaser;
}

bool PinnedHostReleaser::enqueue(void* block) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return false;
    waiting_.push_back(block);
  } catch (const std::bad_alloc&) {
    return false;
  }
  changed_.notify_all();
  return true;
}

void PinnedHostReleaser::wait_until_empty() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !freeing_; });
}

void PinnedHostReleaser::stop() noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PinnedHostReleaser::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::vector<void*> blocks;
    blocks.swap(waiting_);
    freeing_ = true;
    lock.unlock();  // hipHostFree may wait for host functions that want to enqueue
    for (void* block : blocks) GPU_CHECK_NOEXCEPT(hipHostFree(block));
    lock.lock();
    freeing_ = false;
    changed_.notify_all();
  }
}

namespace {

void* host_malloc(size_t bytes) {
  void* block = nullptr;
  GPU_CHECK(hipHostMalloc(&block, bytes, hipHostMallocDefault));
  return block;
}

}  // namespace

std::shared_ptr<void> allocate_pinned(size_t bytes) {
  PinnedHostReleaser& releaser = PinnedHostReleaser::instance();
  return std::shared_ptr<void>(host_malloc(bytes),
                               [&releaser](void* block) { releaser.enqueue(block); });
}

namespace {

constexpr size_t kSmallestBlock = 4096;

// Blocks of class c have 4096 << c bytes.
int size_class(size_t bytes) {
  int result = 0;
  while (kSmallestBlock << result < bytes) ++result;
  return result;
}

}  // namespace

// The mutex is never held around a runtime call: host functions take it to give blocks back.
struct PinnedPool::Shelf {
  struct Class {
    std::vector<void*> free;
    size_t created = 0;
  };

  PinnedHostReleaser& releaser = PinnedHostReleaser::instance();
  std::mutex mutex;
  std::array<Class, 40> classes;

  ~Shelf() { clear(); }

  void* take(int index) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::vector<void*>& free = classes[index].free;
    if (free.empty()) return nullptr;
    void* block = free.back();
    free.pop_back();
    return block;
  }

  void* create(int index) {
    {
      // Room for every block, so that giving one back never allocates.
      const std::lock_guard<std::mutex> lock(mutex);
      classes[index].free.reserve(++classes[index].created);
    }
    return host_malloc(kSmallestBlock << index);
  }

  void give_back(int index, void* block) noexcept {
    const std::lock_guard<std::mutex> lock(mutex);
    classes[index].free.push_back(block);
  }

  void clear() {
    const std::lock_guard<std::mutex> lock(mutex);
    for (Class& size : classes) {
      for (void* block : size.free) releaser.enqueue(block);
      size.created -= size.free.size();
      size.free.clear();
    }
  }
};

PinnedPool::PinnedPool() : shelf_(std::make_shared<Shelf>()) {}

PinnedPool::~PinnedPool() = default;

PinnedPool& PinnedPool::instance() {
  static PinnedPool* const pool = new PinnedPool;
  return *pool;
}

std::shared_ptr<void> PinnedPool::allocate(size_t bytes) {
  const int index = size_class(bytes);
  void* block = shelf_->take(index);
  if (block == nullptr) block = shelf_->create(index);
  return std::shared_ptr<void>(
      block, [shelf = shelf_, index](void* pointer) { shelf->give_back(index, pointer); });
}

void PinnedPool::reserve(size_t bytes, size_t count) {
  std::vector<std::shared_ptr<void>> blocks;
  for (size_t i = 0; i < count; ++i) blocks.push_back(allocate(bytes));
}

void PinnedPool::trim() { shelf_->clear(); }

size_t PinnedPool::free_blocks() const {
  const std::lock_guard<std::mutex> lock(shelf_->mutex);
  size_t count = 0;
  for (const Shelf::Class& size : shelf_->classes) count += size.free.size();
  return count;
}

}  // namespace hip_ext
