#include <algorithm>
#include <system_error>

#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;

namespace {

hipError_t create(hipStream_t* handle, unsigned flags) {
  if (handle == nullptr || flags > hipStreamNonBlocking) return hipErrorInvalidValue;
  Runtime& self = runtime();
  Guard guard(self.mutex);
  const auto made = self.new_handle<hipStream_t>();
  const int64_t id = self.next_stream_id++;
  guard.unlock();  // a thread starts slowly
  std::shared_ptr<Stream> stream;
  try {
    stream = start_stream(made, id, flags);
  } catch (const std::system_error&) {
    return hipErrorOutOfMemory;
  }
  guard.lock();
  self.streams[made] = std::move(stream);
  self.stream_records.push_back({id, reinterpret_cast<uintptr_t>(made), flags});
  ApiCall::current()->stream(made).record.stream_id = id;
  *handle = made;
  return hipSuccess;
}

hipError_t destroy(hipStream_t handle) {
  if (handle == nullptr) return hipErrorInvalidHandle;
  Runtime& self = runtime();
  Guard guard(self.mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->capture) return refuse_stream_wait(*stream);
  stream->destroying = true;
  wait_until_reached(guard, {stream, stream->enqueued});
  RuntimeLockScope lock(guard);
  self.streams.erase(handle);
  stream->stopping = true;
  stream->work_ready.notify_one();
  return hipSuccess;
}

hipError_t synchronize(hipStream_t handle) {
  Guard guard(runtime().mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (const hipError_t refused = refuse_stream_wait(*stream)) return refused;
  wait_until_reached(guard, tails(stream));
  return hipSuccess;
}

hipError_t query(hipStream_t handle) {
  Guard guard(runtime().mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (const hipError_t refused = refuse_stream_wait(*stream)) return refused;
  for (const Dependency& tail : tails(stream)) {
    if (tail.stream->completed < tail.sequence) return hipErrorNotReady;
  }
  return hipSuccess;
}

hipError_t get_flags(hipStream_t handle, unsigned* flags) {
  if (flags == nullptr) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  *flags = stream->flags;
  return hipSuccess;
}

}  // namespace

std::vector<hip_host::StreamRecord> hip_host::recorder_streams() {
  std::vector<StreamRecord> streams;
  {
    Guard guard(runtime().mutex);
    streams = runtime().stream_records;
  }
  // Two threads that create at the same time may enter in either order.
  std::sort(streams.begin(), streams.end(),
            [](const StreamRecord& a, const StreamRecord& b) { return a.stream_id < b.stream_id; });
  return streams;
}

hipError_t hipStreamCreate(hipStream_t* stream) {
  ApiCall call("hipStreamCreate");
  return call.finish(create(stream, hipStreamDefault));
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  ApiCall call("hipStreamCreateWithFlags");
  return call.finish(create(stream, flags));
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  ApiCall call("hipStreamDestroy");
  return call.stream(stream).finish(destroy(stream));
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  ApiCall call("hipStreamSynchronize");
  return call.stream(stream).finish(synchronize(stream));
}

hipError_t hipStreamQuery(hipStream_t stream) {
  ApiCall call("hipStreamQuery");
  return call.stream(stream).finish(query(stream));
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  ApiCall call("hipStreamGetFlags");
  return call.stream(stream).finish(get_flags(stream, flags));
}
