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

  ApiRecord record;
  uint64_t session = 0;

 private:
  ApiCall* outer_;
};

hipError_t last_error(bool clear);

}  // namespace hip_host::detail
