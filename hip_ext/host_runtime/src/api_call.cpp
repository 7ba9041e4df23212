#include "api_call.h"

namespace hip_host::detail {
namespace {

thread_local ApiCall* innermost = nullptr;
thread_local hipError_t thread_last_error = hipSuccess;

}  // namespace

ApiCall::ApiCall(const char* name) : session(recording_session()), outer_(innermost) {
  innermost = this;
  record.name = name;
  record.correlation_id = next_correlation_id();
  if (session == 0) return;
  record.thread_id = thread_id();
  record.start_ns = now_ns();
}

ApiCall::~ApiCall() {
  wake();
  innermost = outer_;
  if (session == 0) return;
  record.end_ns = now_ns();
  if (record.waited) record.stack = current_stack();  // behind the end: it is not the call's time
  keep(record, session);
}

void ApiCall::wake() {
  if (!to_wake_) return;
  to_wake_->work_ready.notify_one();
  to_wake_.reset();
}

ApiCall* ApiCall::current() { return innermost; }

ApiCall& ApiCall::stream(hipStream_t handle) {
  record.stream_argument = reinterpret_cast<uintptr_t>(handle);
  return *this;
}

ApiCall& ApiCall::event(hipEvent_t handle) {
  record.event = reinterpret_cast<uintptr_t>(handle);
  return *this;
}

ApiCall& ApiCall::copy(const void* dst, const void* src, size_t bytes) {
  record.dst = reinterpret_cast<uintptr_t>(dst);
  record.src = reinterpret_cast<uintptr_t>(src);
  record.bytes = bytes;
  return *this;
}

hipError_t ApiCall::finish(hipError_t result) {
  record.result = result;
  if (result != hipSuccess) thread_last_error = result;
  return result;
}

hipError_t last_error(bool clear) {
  const hipError_t error = thread_last_error;
  if (clear) thread_last_error = hipSuccess;
  return error;
}

}  // namespace hip_host::detail
