#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;
using hip_host::OpKind;

namespace {

constexpr unsigned known_flags = hipEventBlockingSync | hipEventDisableTiming;

/// Null is an invalid handle, anything else that is not alive a destroyed one.
hipError_t find_event(hipEvent_t handle, Event** event) {
  if (handle == nullptr) return hipErrorInvalidHandle;
  const auto found = runtime().events.find(handle);
  if (found == runtime().events.end()) return hipErrorContextIsDestroyed;
  *event = &found->second;
  return hipSuccess;
}

bool reached(const Recording& recording) {
  return recording.reached.stream->completed >= recording.reached.sequence;
}

hipError_t create(hipEvent_t* handle, unsigned flags) {
  if (handle == nullptr || (flags & ~known_flags) != 0) return hipErrorInvalidValue;
  Runtime& self = runtime();
  Guard guard(self.mutex);
  *handle = self.new_handle<hipEvent_t>();
  self.events[*handle].timed = (flags & hipEventDisableTiming) == 0;
  return hipSuccess;
}

hipError_t destroy(hipEvent_t handle) {
  Guard guard(runtime().mutex);
  RuntimeLockScope lock(guard);
  Event* event = nullptr;
  if (const hipError_t invalid = find_event(handle, &event)) return invalid;
  runtime().events.erase(handle);
  return hipSuccess;
}

hipError_t record(hipEvent_t handle, hipStream_t stream_handle) {
  Guard guard(runtime().mutex);
  Event* event = nullptr;
  if (const hipError_t invalid = find_event(handle, &event)) return invalid;
  const auto stream = find_stream(stream_handle);
  if (!stream) return hipErrorContextIsDestroyed;
  auto recording = std::make_shared<Recording>();
  if (stream->capture) {
    // An edge of the graph, not a node: a replay does not record the event again.
    if (stream->capture->invalidated) return hipErrorStreamCaptureInvalidated;
    recording->capture = stream->capture;
  } else {
    Operation op = make_operation(OpKind::marker, "hipEventRecord", nullptr);
    op.recording = recording;
    if (const hipError_t refused = submit(stream_handle, op, &recording->reached)) {
      return refused;
    }
  }
  event->recording = std::move(recording);
  return hipSuccess;
}

/// A captured stream may wait only for its own capture, where stream order already does the work.
hipError_t wait_inside_capture(Capture& capture, const Recording& recording) {
  if (capture.invalidated) return hipErrorStreamCaptureInvalidated;
  if (recording.capture.get() == &capture) return hipSuccess;
  capture.invalidated = true;
  return hipErrorStreamCaptureIsolation;
}

hipError_t make_stream_wait(hipStream_t stream_handle, hipEvent_t handle, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  Event* event = nullptr;
  if (const hipError_t invalid = find_event(handle, &event)) return invalid;
  const auto stream = find_stream(stream_handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (!event->recording) return hipSuccess;
  if (stream->capture) return wait_inside_capture(*stream->capture, *event->recording);
  if (event->recording->capture) {
    event->recording->capture->invalidated = true;  // forks of a capture: not supported
    return hipErrorStreamCaptureUnsupported;
  }
  Operation op = make_operation(OpKind::marker, "hipStreamWaitEvent", nullptr);
  op.dependencies.push_back(event->recording->reached);
  return submit(stream_handle, op);
}

/// The event's recording, null when it was never recorded; refuses what a capture forbids.
hipError_t waitable_recording(hipEvent_t handle, std::shared_ptr<Recording>* recording) {
  Event* event = nullptr;
  if (const hipError_t invalid = find_event(handle, &event)) return invalid;
  if (const hipError_t refused = refuse_unsafe_call()) return refused;
  if (event->recording && event->recording->capture) {
    event->recording->capture->invalidated = true;
    return hipErrorCapturedEvent;
  }
  *recording = event->recording;
  return hipSuccess;
}

hipError_t query(hipEvent_t handle) {
  Guard guard(runtime().mutex);
  std::shared_ptr<Recording> recording;
  if (const hipError_t refused = waitable_recording(handle, &recording)) return refused;
  return !recording || reached(*recording) ? hipSuccess : hipErrorNotReady;
}

hipError_t synchronize(hipEvent_t handle) {
  Guard guard(runtime().mutex);
  std::shared_ptr<Recording> recording;
  if (const hipError_t refused = waitable_recording(handle, &recording)) return refused;
  if (recording) wait_until_reached(guard, recording->reached);
  return hipSuccess;
}

hipError_t elapsed(float* milliseconds, hipEvent_t start_handle, hipEvent_t stop_handle) {
  if (milliseconds == nullptr) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  Event* start = nullptr;
  Event* stop = nullptr;
  if (const hipError_t invalid = find_event(start_handle, &start)) return invalid;
  if (const hipError_t invalid = find_event(stop_handle, &stop)) return invalid;
  for (const Event* event : {start, stop}) {
    if (!event->timed || !event->recording) return hipErrorInvalidHandle;
    if (event->recording->capture) return hipErrorCapturedEvent;
  }
  if (!reached(*start->recording) || !reached(*stop->recording)) return hipErrorNotReady;
  const int64_t ns = stop->recording->time_ns - start->recording->time_ns;
  *milliseconds = static_cast<float>(static_cast<double>(ns) * 1e-6);
  return hipSuccess;
}

}  // namespace

hipError_t hipEventCreate(hipEvent_t* event) {
  ApiCall call("hipEventCreate");
  return call.finish(create(event, hipEventDefault));
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  ApiCall call("hipEventCreateWithFlags");
  return call.finish(create(event, flags));
}

hipError_t hipEventDestroy(hipEvent_t event) {
  ApiCall call("hipEventDestroy");
  return call.event(event).finish(destroy(event));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  ApiCall call("hipEventRecord");
  return call.event(event).stream(stream).finish(record(event, stream));
}

hipError_t hipEventQuery(hipEvent_t event) {
  ApiCall call("hipEventQuery");
  return call.event(event).finish(query(event));
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  ApiCall call("hipEventSynchronize");
  return call.event(event).finish(synchronize(event));
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  ApiCall call("hipEventElapsedTime");
  return call.event(stop).finish(elapsed(milliseconds, start, stop));
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  ApiCall call("hipStreamWaitEvent");
  return call.event(event).stream(stream).finish(make_stream_wait(stream, event, flags));
}
