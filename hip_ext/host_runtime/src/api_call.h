// The frame of every API function: record, correlation id, last error.
#pragma once

#include "recording.h"
#include "runtime.h"

namespace hip_host::detail {

/// Lives from a function's first line to its return. Nested frames do not occur: no API function
/// calls another.
class ApiCall {
 public:
  explicit ApiCall(const char* name);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  /// The frame this thread is in, or null (a stream's thread between ops).
  static ApiCall* current();

  ApiCall& stream(hipStream_t handle);
  ApiCall& event(hipEvent_t handle);
  ApiCall& copy(const void* dst, const void* src, size_t bytes);

  /// Notes the result, here and as the thread's last error, and hands it back.
  hipError_t finish(hipError_t result);

  /// Wakes this stream's thread when the call ends: the mutex is free then. A thread that is woken
  /// while its waker holds the mutex may push the waker off its core, and on a busy machine every
  /// other call would stand behind it.
  void wake_at_end(const std::shared_ptr<Stream>& stream) { to_wake_ = stream; }
  /// The same now, for a call that is about to wait.
  void wake();

  ApiRecord record;
  uint64_t session = 0;

 private:
  ApiCall* outer_;
  std::shared_ptr<Stream> to_wake_;
};

hipError_t last_error(bool clear);

}  // namespace hip_host::detail
