// From an API call to a stream's queue: which stream, behind what, captured or not.
#include "api_call.h"
#include "runtime.h"

namespace hip_host::detail {
namespace {

/// The legacy rule: the null stream follows all blocking streams and they follow it. Only what is
/// enqueued at this moment counts, so dependencies always point backwards and cannot form a cycle.
void follow_legacy_rule(const Stream& stream, Operation& op) {
  Runtime& self = runtime();
  if (stream.is_null()) {
    for (const auto& [handle, other] : self.streams) {
      if (other->blocking() && !other->done()) {
        op.dependencies.push_back({other, other->enqueued});
      }
    }
  } else if (stream.blocking() && !self.null_stream->done()) {
    op.dependencies.push_back({self.null_stream, self.null_stream->enqueued});
  }
}

}  // namespace

Runtime& runtime() {
  static Runtime* instance = [] {
    auto* made = new Runtime;
    // The threads ask for runtime() themselves and wait there until this initializer is through.
    made->null_stream = start_stream(nullptr, /*id=*/0, hipStreamDefault);
    start_callback_thread();
    return made;
  }();
  return *instance;
}

std::shared_ptr<Stream> find_stream(hipStream_t handle) {
  Runtime& self = runtime();
  std::shared_ptr<Stream> stream;
  if (handle == nullptr) {
    stream = self.null_stream;
  } else if (auto found = self.streams.find(handle); found != self.streams.end()) {
    if (!found->second->destroying) stream = found->second;
  }
  ApiCall* call = ApiCall::current();
  if (stream && call != nullptr) call->record.stream_id = stream->id;
  return stream;
}

Operation make_operation(OpKind kind, const char* name, std::function<void()> work) {
  Operation op;
  op.record.kind = kind;
  op.record.name = intern(name);
  op.work = std::move(work);
  if (const ApiCall* call = ApiCall::current()) {
    op.record.correlation_id = call->record.correlation_id;
    op.record.thread_id = call->record.thread_id;
    op.session = call->session;
  }
  return op;
}

Dependency enqueue(const std::shared_ptr<Stream>& stream, Operation op) {
  op.record.stream_id = stream->id;
  follow_legacy_rule(*stream, op);
  stream->queue.push_back(std::move(op));
  ++stream->enqueued;
  if (ApiCall* call = ApiCall::current()) {
    call->wake_at_end(stream);
  } else {
    stream->work_ready.notify_one();
  }
  return {stream, stream->enqueued};
}

hipError_t submit(hipStream_t handle, Operation& op, Dependency* end) {
  const auto stream = find_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->capture) {
    if (stream->capture->invalidated) return hipErrorStreamCaptureInvalidated;
    stream->capture->nodes.push_back(std::move(op));
    return hipSuccess;
  }
  if (const hipError_t refused = refuse_null_stream(*stream)) return refused;
  const Dependency reached = enqueue(stream, std::move(op));
  if (end != nullptr) *end = reached;
  return hipSuccess;
}

std::vector<Dependency> tails(const std::shared_ptr<Stream>& stream) {
  std::vector<Dependency> targets{{stream, stream->enqueued}};
  if (!stream->is_null()) return targets;
  for (const auto& [handle, other] : runtime().streams) {
    if (other->blocking()) targets.push_back({other, other->enqueued});
  }
  return targets;
}

std::vector<Dependency> all_tails() {
  Runtime& self = runtime();
  std::vector<Dependency> targets{{self.null_stream, self.null_stream->enqueued}};
  for (const auto& [handle, stream] : self.streams) targets.push_back({stream, stream->enqueued});
  return targets;
}

}  // namespace hip_host::detail
