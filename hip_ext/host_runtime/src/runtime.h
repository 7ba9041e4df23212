// The runtime's state. Two locks, and the difference between them is the point:
//
// * `Runtime::mutex` guards every structure below. It is held for a few hundred instructions at a
//   time, never while a kernel, a copy or a host function runs and never across a wait, so that
//   enqueueing never waits for work.
// * `RuntimeLock` is the lock that real drivers hold around host functions and that allocation,
//   freeing and destruction take. Enqueueing never takes it: a host function may run for as long as
//   it likes and launches, copies and further host functions are still accepted at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hip_host/hip_runtime.h"
#include "hip_host/recorder.h"

namespace hip_host::detail {

using Guard = std::unique_lock<std::mutex>;

struct Stream;
struct Capture;

/// "The first `sequence` ops of `stream` are done."
struct Dependency {
  std::shared_ptr<Stream> stream;
  uint64_t sequence = 0;
};

/// One hipEventRecord. An event that is recorded again gets a new one, so that earlier waits keep
/// the recording they were made for.
struct Recording {
  Dependency reached;
  int64_t time_ns = 0;
  std::shared_ptr<Capture> capture;  // set when it was recorded inside one
};

struct Operation {
  OpRecord record;
  std::function<void()> work;  // empty for a marker
  std::vector<Dependency> dependencies;
  std::shared_ptr<Recording> recording;  // set when the op is reached
  uint64_t session = 0;                  // recording it belongs to, 0 for none
  bool finished = false;                 // host functions: set by the callback thread
};

struct Stream {
  hipStream_t handle = nullptr;
  int64_t id = 0;
  unsigned flags = hipStreamDefault;
  std::deque<Operation> queue;
  uint64_t enqueued = 0;
  uint64_t completed = 0;
  bool destroying = false;  // its handle is no longer accepted, its work still counts
  bool stopping = false;
  std::condition_variable work_ready;  // the worker waits here
  std::condition_variable progress;    // whoever waits for `completed`
  std::shared_ptr<Capture> capture;

  bool is_null() const { return handle == nullptr; }
  bool blocking() const { return flags == hipStreamDefault; }
  bool done() const { return completed == enqueued; }
};

struct Event {
  bool timed = true;
  std::shared_ptr<Recording> recording;
};

struct Capture {
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  int32_t thread_id = 0;
  bool blocking_stream = true;
  bool invalidated = false;
  std::vector<Operation> nodes;
};

using Nodes = std::shared_ptr<const std::vector<Operation>>;

struct GraphExec {
  Nodes nodes;
  Dependency last_launch;  // launches of one exec run one after the other, on any stream
};

struct Allocation {
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::none;
};

/// Not a std::mutex: a thread that takes it twice must hang, by definition and not by luck.
class RuntimeLock {
 public:
  enum class Holder { none, host_function, call };
  /// Blocks until free. Called with the state mutex held, which is released meanwhile.
  void acquire(Guard& guard, Holder who);
  void release();

 private:
  Holder holder_ = Holder::none;
  std::condition_variable freed_;
};

/// Never destroyed: stream threads may outlive static destruction.
struct Runtime {
  std::mutex mutex;
  RuntimeLock lock;
  std::atomic<bool> free_waits{true};

  uint64_t next_handle = 0x1000;
  int64_t next_stream_id = 1;
  std::shared_ptr<Stream> null_stream;
  std::map<hipStream_t, std::shared_ptr<Stream>> streams;    // without the null stream
  std::vector<StreamRecord> stream_records{StreamRecord{}};  // all that ever were
  std::map<hipEvent_t, Event> events;
  std::map<hipGraph_t, Nodes> graphs;
  std::map<hipGraphExec_t, GraphExec> execs;
  std::vector<std::shared_ptr<Capture>> captures;
  std::map<uintptr_t, Allocation> allocations;
  std::multimap<uintptr_t, size_t> registered;

  std::deque<Operation*> host_functions;
  std::condition_variable host_function_ready;
  std::condition_variable host_function_done;

  /// Handles are numbers that are never used twice, so a stale one is told from a new object.
  template <class Handle>
  Handle new_handle() {
    next_handle += 0x10;
    return reinterpret_cast<Handle>(next_handle);
  }
};

Runtime& runtime();

/// The lock of the allocating, freeing and destroying calls, for a scope. Blocks.
class RuntimeLockScope {
 public:
  explicit RuntimeLockScope(Guard& guard);
  ~RuntimeLockScope();
  RuntimeLockScope(const RuntimeLockScope&) = delete;
  RuntimeLockScope& operator=(const RuntimeLockScope&) = delete;

 private:
  Guard& guard_;
};

// stream_thread.cpp
std::shared_ptr<Stream> start_stream(hipStream_t handle, int64_t id, unsigned flags);
void start_callback_thread();
/// Blocks until `target` is reached; marks the current API call as having waited if it had to.
void wait_until_reached(Guard& guard, const Dependency& target);
void wait_until_reached(Guard& guard, const std::vector<Dependency>& targets);

// submit.cpp: everything here wants the state mutex held.
/// The stream behind a handle, or null; notes its id in the current API record.
std::shared_ptr<Stream> find_stream(hipStream_t handle);
/// An operation that carries the current API call's correlation id.
Operation make_operation(OpKind kind, const char* name, std::function<void()> work);
/// Enqueues behind what the stream's kind says it must follow; returns where its end is.
Dependency enqueue(const std::shared_ptr<Stream>& stream, Operation op);
/// Finds the stream, applies the capture rules, then enqueues or captures. `end` (optional) is set
/// when the op was enqueued and stays empty when it was captured. `op` is moved from on success
/// only: a refused op dies in the caller, without the mutex, because its destructors may call HIP.
hipError_t submit(hipStream_t handle, Operation& op, Dependency* end = nullptr);
/// What a wait for this stream waits for: its tail, for the null stream all blocking tails too.
std::vector<Dependency> tails(const std::shared_ptr<Stream>& stream);
std::vector<Dependency> all_tails();

// capture.cpp: the state mutex must be held. Each refusal invalidates the captures it names.
/// Allocating and freeing calls, refused by captures that are not relaxed.
hipError_t refuse_unsafe_call();
/// hipDeviceSynchronize: refused by any capture.
hipError_t refuse_device_wait();
/// Synchronous calls that use the null stream without naming it.
hipError_t refuse_synchronous_copy();
/// A wait for or a query of this stream.
hipError_t refuse_stream_wait(const Stream& stream);
/// Enqueueing on the null stream while a blocking stream is captured.
hipError_t refuse_null_stream(const Stream& stream);

// memory.cpp: the state mutex must be held.
/// What the whole range is; `none` when it leaves the allocation that it starts in.
MemoryKind classify(const void* pointer, size_t bytes);

}  // namespace hip_host::detail
