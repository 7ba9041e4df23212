// The threads: one a stream, and one that runs all host functions.
#include <thread>

#include "api_call.h"
#include "runtime.h"

namespace hip_host::detail {
namespace {

/// Nobody is woken into a mutex that is held (ApiCall::wake_at_end says why).
void notify_unlocked(Guard& guard, std::condition_variable& condition) {
  guard.unlock();
  condition.notify_all();
  guard.lock();
}

/// Hands the op to the callback thread and blocks this stream's thread until it has run.
void run_on_callback_thread(Guard& guard, Operation& op) {
  Runtime& self = runtime();
  self.host_functions.push_back(&op);
  notify_unlocked(guard, self.host_function_ready);
  self.host_function_done.wait(guard, [&] { return op.finished; });
}

/// Runs the op with the state mutex released. What it captured dies before it counts as done.
void run_unlocked(Guard& guard, Operation& op) {
  guard.unlock();
  op.record.start_ns = now_ns();
  if (op.work) op.work();
  op.work = nullptr;
  op.dependencies.clear();
  guard.lock();
  // Taken with the mutex held, so that whoever finds this op undone began to look before its end.
  op.record.end_ns = now_ns();
}

void run_stream(const std::shared_ptr<Stream>& stream) {
  Guard guard(runtime().mutex);
  for (;;) {
    stream->work_ready.wait(guard, [&] { return !stream->queue.empty() || stream->stopping; });
    if (stream->queue.empty()) return;
    Operation op = std::move(stream->queue.front());
    stream->queue.pop_front();
    wait_until_reached(guard, op.dependencies);
    if (op.record.kind == OpKind::host_function) {
      run_on_callback_thread(guard, op);
    } else {
      run_unlocked(guard, op);
    }
    if (op.recording) op.recording->time_ns = op.record.end_ns;
    // Before the op counts as done: a take after a synchronize must find it.
    if (op.record.kind != OpKind::marker) keep(op.record, op.session);
    ++stream->completed;
    notify_unlocked(guard, stream->progress);
  }
}

void run_host_functions() {
  Runtime& self = runtime();
  Guard guard(self.mutex);
  for (;;) {
    self.host_function_ready.wait(guard, [&] { return !self.host_functions.empty(); });
    Operation& op = *self.host_functions.front();
    self.host_functions.pop_front();
    self.lock.acquire(guard, RuntimeLock::Holder::host_function);
    op.record.thread_id = thread_id();
    run_unlocked(guard, op);
    self.lock.release();
    op.finished = true;  // the last touch: the stream's thread owns it
    notify_unlocked(guard, self.host_function_done);
  }
}

}  // namespace

void RuntimeLock::acquire(Guard& guard, Holder who) {
  while (holder_ != Holder::none) {
    ApiCall* call = ApiCall::current();
    if (call != nullptr && holder_ == Holder::host_function) call->record.waited = true;
    freed_.wait(guard);
  }
  holder_ = who;
}

void RuntimeLock::release() {
  holder_ = Holder::none;
  freed_.notify_all();
}

RuntimeLockScope::RuntimeLockScope(Guard& guard) : guard_(guard) {
  runtime().lock.acquire(guard_, RuntimeLock::Holder::call);
}

RuntimeLockScope::~RuntimeLockScope() {
  if (!guard_.owns_lock()) guard_.lock();
  runtime().lock.release();
}

// Threads are detached: a stream's thread owns its stream, and nothing has to join it at exit.
std::shared_ptr<Stream> start_stream(hipStream_t handle, int64_t id, unsigned flags) {
  auto stream = std::make_shared<Stream>();
  stream->handle = handle;
  stream->id = id;
  stream->flags = flags;
  std::thread([stream] { run_stream(stream); }).detach();
  return stream;
}

void start_callback_thread() { std::thread(run_host_functions).detach(); }

void wait_until_reached(Guard& guard, const Dependency& target) {
  Stream& stream = *target.stream;
  if (stream.completed >= target.sequence) return;
  if (ApiCall* call = ApiCall::current()) {
    call->record.waited = true;
    call->wake();
  }
  stream.progress.wait(guard, [&] { return stream.completed >= target.sequence; });
}

void wait_until_reached(Guard& guard, const std::vector<Dependency>& targets) {
  for (const Dependency& target : targets) wait_until_reached(guard, target);
}

}  // namespace hip_host::detail
