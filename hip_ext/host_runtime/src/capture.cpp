// Stream capture: what it collects and what it forbids.
#include <algorithm>

#include "api_call.h"
#include "runtime.h"

namespace hip_host::detail {
namespace {

template <class Predicate>
hipError_t refuse(hipError_t error, Predicate forbids) {
  hipError_t result = hipSuccess;
  for (const auto& capture : runtime().captures) {
    if (!forbids(*capture)) continue;
    capture->invalidated = true;
    result = error;
  }
  return result;
}

/// A global capture watches every thread, a thread-local one its own, a relaxed one nobody.
bool watches_this_thread(const Capture& capture) {
  return capture.mode == hipStreamCaptureModeGlobal ||
         (capture.mode == hipStreamCaptureModeThreadLocal && capture.thread_id == thread_id());
}

}  // namespace

hipError_t refuse_unsafe_call() {
  return refuse(hipErrorStreamCaptureUnsupported, watches_this_thread);
}

hipError_t refuse_device_wait() {
  return refuse(hipErrorStreamCaptureUnsupported, [](const Capture&) { return true; });
}

hipError_t refuse_synchronous_copy() {
  return refuse(hipErrorStreamCaptureImplicit, watches_this_thread);
}

hipError_t refuse_stream_wait(const Stream& stream) {
  if (!stream.capture) return refuse_null_stream(stream);
  stream.capture->invalidated = true;
  return hipErrorStreamCaptureUnsupported;
}

hipError_t refuse_null_stream(const Stream& stream) {
  if (!stream.is_null()) return hipSuccess;
  return refuse(hipErrorStreamCaptureImplicit, [](const Capture& capture) {
    return capture.blocking_stream && watches_this_thread(capture);
  });
}

}  // namespace hip_host::detail

using namespace hip_host::detail;

namespace {

hipError_t begin_capture(hipStream_t handle, hipStreamCaptureMode mode) {
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) {
    return hipErrorInvalidValue;
  }
  Guard guard(runtime().mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->is_null()) return hipErrorStreamCaptureUnsupported;
  if (stream->capture) return hipErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread_id = thread_id();
  capture->blocking_stream = stream->blocking();
  stream->capture = capture;
  runtime().captures.push_back(std::move(capture));
  return hipSuccess;
}

hipError_t end_capture(hipStream_t handle, hipGraph_t* graph) {
  if (graph == nullptr) return hipErrorInvalidValue;
  std::vector<Operation> nodes;  // dies without the mutex: bodies own what callers captured
  Runtime& self = runtime();
  Guard guard(self.mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (!stream->capture) return hipErrorIllegalState;
  if (stream->capture->mode != hipStreamCaptureModeRelaxed &&
      stream->capture->thread_id != thread_id()) {
    stream->capture->invalidated = true;
    return hipErrorStreamCaptureWrongThread;
  }
  const auto capture = std::move(stream->capture);
  stream->capture = nullptr;
  nodes = std::move(capture->nodes);
  self.captures.erase(std::find(self.captures.begin(), self.captures.end(), capture));
  *graph = nullptr;
  if (capture->invalidated) return hipErrorStreamCaptureInvalidated;
  *graph = self.new_handle<hipGraph_t>();
  self.graphs[*graph] = std::make_shared<const std::vector<Operation>>(std::move(nodes));
  return hipSuccess;
}

hipError_t capture_status(hipStream_t handle, hipStreamCaptureStatus* status) {
  if (status == nullptr) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (const hipError_t refused = refuse_null_stream(*stream)) return refused;
  *status = !stream->capture               ? hipStreamCaptureStatusNone
            : stream->capture->invalidated ? hipStreamCaptureStatusInvalidated
                                           : hipStreamCaptureStatusActive;
  return hipSuccess;
}

}  // namespace

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  ApiCall call("hipStreamBeginCapture");
  return call.stream(stream).finish(begin_capture(stream, mode));
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  ApiCall call("hipStreamEndCapture");
  return call.stream(stream).finish(end_capture(stream, graph));
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  ApiCall call("hipStreamIsCapturing");
  return call.stream(stream).finish(capture_status(stream, status));
}
