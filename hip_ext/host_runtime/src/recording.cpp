#include "recording.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace hip_host::detail {
namespace {

/// Its own mutex is contended only while records are taken. Deques, because a vector that grows
/// would copy megabytes inside somebody's API call.
struct Buffer {
  std::mutex mutex;
  std::deque<ApiRecord> api;
  std::deque<OpRecord> ops;
  std::deque<OpRecord> host_functions;
  std::deque<RangeRecord> ranges;
};

struct Recorder {
  std::atomic<uint64_t> active{0};  // session, 0 when off
  std::atomic<uint64_t> newest{0};
  std::atomic<uint64_t> correlation{0};
  std::atomic<StackProvider> stack_provider{nullptr};
  std::mutex mutex;  // of `buffers` and of starting, stopping, taking
  std::vector<std::shared_ptr<Buffer>> buffers;
};

/// Never destroyed: a stream's thread may still record while the process exits.
Recorder& recorder() {
  static Recorder* instance = new Recorder;
  return *instance;
}

Buffer& thread_buffer() {
  thread_local std::shared_ptr<Buffer> buffer = [] {
    auto made = std::make_shared<Buffer>();
    std::lock_guard guard(recorder().mutex);
    recorder().buffers.push_back(made);
    return made;
  }();
  return *buffer;
}

/// Runs `append` on this thread's buffer, unless `session` is not the newest any more.
template <class Append>
void keep_in_buffer(uint64_t session, Append append) {
  if (session == 0) return;
  Buffer& buffer = thread_buffer();
  std::lock_guard guard(buffer.mutex);
  // Read under the buffer's mutex: recorder_start sets it before it empties the buffers, so a stale
  // record either lands before the emptying or sees the newer session here.
  if (session != recorder().newest.load()) return;
  append(buffer);
}

template <class Record>
void append_all(std::vector<Record>& to, std::deque<Record>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from.clear();
}

template <class Record>
void order_by_start(std::vector<Record>& records) {
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.start_ns < b.start_ns; });
}

Records collect(Recorder& self) {
  Records all;
  std::vector<std::shared_ptr<Buffer>> alive;
  for (auto& buffer : self.buffers) {
    // Asked before its records are moved: a thread that ends in between keeps its buffer here.
    const bool thread_ended = buffer.use_count() == 1;
    {
      std::lock_guard guard(buffer->mutex);
      append_all(all.api, buffer->api);
      append_all(all.ops, buffer->ops);
      append_all(all.host_functions, buffer->host_functions);
      append_all(all.ranges, buffer->ranges);
    }
    if (!thread_ended) alive.push_back(std::move(buffer));
  }
  self.buffers = std::move(alive);
  return all;
}

}  // namespace

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int32_t thread_id() {
  thread_local const auto id = static_cast<int32_t>(syscall(SYS_gettid));
  return id;
}

uint64_t next_correlation_id() {
  return recorder().correlation.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint64_t recording_session() { return recorder().active.load(std::memory_order_relaxed); }

void keep(const ApiRecord& record, uint64_t session) {
  keep_in_buffer(session, [&](Buffer& buffer) { buffer.api.push_back(record); });
}

void keep(const OpRecord& record, uint64_t session) {
  keep_in_buffer(session, [&](Buffer& buffer) {
    auto& list = record.kind == OpKind::host_function ? buffer.host_functions : buffer.ops;
    list.push_back(record);
  });
}

void keep(const RangeRecord& record, uint64_t session) {
  keep_in_buffer(session, [&](Buffer& buffer) { buffer.ranges.push_back(record); });
}

uint32_t current_stack() {
  const StackProvider provider = recorder().stack_provider.load();
  return provider == nullptr ? 0 : provider();
}

const std::string* intern(const char* name) {
  static auto* mutex = new std::mutex;
  static auto* names = new std::unordered_set<std::string>;
  std::lock_guard guard(*mutex);
  return &*names->emplace(name).first;
}

}  // namespace hip_host::detail

namespace hip_host {

using detail::recorder;

void recorder_set_stack_provider(StackProvider provider) {
  recorder().stack_provider.store(provider);
}

void recorder_start() {
  auto& self = recorder();
  std::lock_guard guard(self.mutex);
  const uint64_t session = self.newest.load() + 1;
  self.newest.store(session);
  detail::collect(self);
  self.active.store(session);
}

void recorder_stop() {
  std::lock_guard guard(recorder().mutex);
  recorder().active.store(0);
}

Records recorder_take() {
  auto& self = recorder();
  Records all;
  {
    std::lock_guard guard(self.mutex);
    all = detail::collect(self);
  }
  detail::order_by_start(all.api);
  detail::order_by_start(all.ops);
  detail::order_by_start(all.host_functions);
  detail::order_by_start(all.ranges);
  return all;
}

}  // namespace hip_host
