// Copies and fills: which direction, who stages, who waits.
#include <cstring>
#include <memory>
#include <new>

#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;
using hip_host::MemoryKind;
using hip_host::OpKind;

namespace {

struct Copy {
  void* dst;
  const void* src;
  size_t bytes;
  hipMemcpyKind kind;
  MemoryKind src_kind = MemoryKind::none;
  MemoryKind dst_kind = MemoryKind::none;
};

bool host_side(MemoryKind kind) {
  return kind == MemoryKind::pageable || kind == MemoryKind::pinned;
}

/// Pinned memory is mapped into the device, so it may stand on either side.
bool device_side(MemoryKind kind) {
  return kind == MemoryKind::device || kind == MemoryKind::pinned;
}

hipMemcpyKind direction_of(MemoryKind src, MemoryKind dst) {
  if (host_side(src)) return host_side(dst) ? hipMemcpyHostToHost : hipMemcpyHostToDevice;
  return host_side(dst) ? hipMemcpyDeviceToHost : hipMemcpyDeviceToDevice;
}

bool direction_fits(const Copy& copy) {
  const bool from_device =
      copy.kind == hipMemcpyDeviceToHost || copy.kind == hipMemcpyDeviceToDevice;
  const bool to_device = copy.kind == hipMemcpyHostToDevice || copy.kind == hipMemcpyDeviceToDevice;
  return (from_device ? device_side : host_side)(copy.src_kind) &&
         (to_device ? device_side : host_side)(copy.dst_kind);
}

/// Fills in memory kinds and direction and writes them to the API record. Needs the state mutex.
hipError_t resolve(Copy& copy) {
  if (copy.dst == nullptr || copy.src == nullptr) return hipErrorInvalidValue;
  copy.src_kind = classify(copy.src, copy.bytes);
  copy.dst_kind = classify(copy.dst, copy.bytes);
  if (copy.src_kind == MemoryKind::none || copy.dst_kind == MemoryKind::none) {
    return hipErrorInvalidValue;
  }
  if (copy.kind == hipMemcpyDefault) copy.kind = direction_of(copy.src_kind, copy.dst_kind);
  if (!direction_fits(copy)) return hipErrorInvalidValue;
  hip_host::ApiRecord& record = ApiCall::current()->record;
  record.copy_kind = copy.kind;
  record.src_kind = copy.src_kind;
  record.dst_kind = copy.dst_kind;
  return hipSuccess;
}

const char* op_name(hipMemcpyKind kind) {
  switch (kind) {
    case hipMemcpyHostToHost:
      return "MEMORY_COPY_HOST_TO_HOST";
    case hipMemcpyHostToDevice:
      return "MEMORY_COPY_HOST_TO_DEVICE";
    case hipMemcpyDeviceToHost:
      return "MEMORY_COPY_DEVICE_TO_HOST";
    default:
      return "MEMORY_COPY_DEVICE_TO_DEVICE";
  }
}

Operation make_copy_operation(const Copy& copy, std::function<void()> work) {
  Operation op = make_operation(OpKind::memcpy, op_name(copy.kind), std::move(work));
  op.record.bytes = copy.bytes;
  op.record.copy_kind = copy.kind;
  op.record.src_kind = copy.src_kind;
  op.record.dst_kind = copy.dst_kind;
  op.record.src = reinterpret_cast<uintptr_t>(copy.src);
  op.record.dst = reinterpret_cast<uintptr_t>(copy.dst);
  return op;
}

std::function<void()> copy_bytes(const Copy& copy) {
  return [dst = copy.dst, src = copy.src, bytes = copy.bytes] { std::memmove(dst, src, bytes); };
}

/// Reads the source now, on this thread; the op owns what was read. Empty when out of memory.
std::function<void()> copy_staged_bytes(const Copy& copy) {
  std::shared_ptr<char[]> staged(new (std::nothrow) char[copy.bytes]);
  if (!staged) return {};
  std::memcpy(staged.get(), copy.src, copy.bytes);
  return [dst = copy.dst, staged, bytes = copy.bytes] { std::memcpy(dst, staged.get(), bytes); };
}

enum class Wait { no, yes };

/// Enqueues and, without letting go of the mutex in between, waits: a call that must wait for its
/// own copy always really waits.
hipError_t submit_and_wait(Guard& guard, hipStream_t stream, Operation op, Wait wait) {
  Dependency end;
  const hipError_t result = submit(stream, op, &end);
  if (wait == Wait::yes && end.stream) wait_until_reached(guard, end);
  return result;
}

bool valid_direction(hipMemcpyKind kind) {
  return kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault;
}

/// Copies inside the device: hipMemcpy returns once they are enqueued.
enum class OnDevice { returns, waits };

hipError_t copy_synchronously(Copy copy, hipStream_t stream, OnDevice on_device) {
  if (!valid_direction(copy.kind)) return hipErrorInvalidMemcpyDirection;
  Guard guard(runtime().mutex);
  const auto found = find_stream(stream);
  if (!found) return hipErrorContextIsDestroyed;
  if (found->capture) return refuse_stream_wait(*found);
  if (found->is_null()) {
    if (const hipError_t refused = refuse_synchronous_copy()) return refused;
  }
  if (copy.bytes == 0) return hipSuccess;
  if (const hipError_t invalid = resolve(copy)) return invalid;
  const bool inside = copy.src_kind == MemoryKind::device && copy.dst_kind == MemoryKind::device;
  const Wait wait = inside && on_device == OnDevice::returns ? Wait::no : Wait::yes;
  return submit_and_wait(guard, stream, make_copy_operation(copy, copy_bytes(copy)), wait);
}

hipError_t copy_asynchronously(Copy copy, hipStream_t stream) {
  if (!valid_direction(copy.kind)) return hipErrorInvalidMemcpyDirection;
  Guard guard(runtime().mutex);
  const auto found = find_stream(stream);
  if (!found) return hipErrorContextIsDestroyed;
  if (copy.bytes == 0) return hipSuccess;
  if (const hipError_t invalid = resolve(copy)) return invalid;
  const bool pageable_source = copy.src_kind == MemoryKind::pageable;
  // A captured copy reads its source when it is replayed, as a memcpy node does.
  const bool stage =
      pageable_source && copy.kind == hipMemcpyHostToDevice && found->capture == nullptr;
  const bool must_wait = copy.dst_kind == MemoryKind::pageable ||
                         (pageable_source && copy.kind == hipMemcpyHostToHost);
  std::function<void()> work;
  if (stage) {
    guard.unlock();  // other threads enqueue while this one stages
    work = copy_staged_bytes(copy);
    guard.lock();
    if (!work) return hipErrorOutOfMemory;
  } else {
    work = copy_bytes(copy);
  }
  return submit_and_wait(guard, stream, make_copy_operation(copy, std::move(work)),
                         must_wait ? Wait::yes : Wait::no);
}

struct Fill {
  void* dst;
  int value;
  size_t bytes;
};

/// AMD devices fill with this kernel; a trace of theirs shows its name.
constexpr const char* fill_name = "__amd_rocclr_fillBufferAligned";

enum class FillCall { synchronous, asynchronous };

hipError_t fill(const Fill& fill, hipStream_t stream, FillCall kind) {
  Guard guard(runtime().mutex);
  const auto found = find_stream(stream);
  if (!found) return hipErrorContextIsDestroyed;
  if (kind == FillCall::synchronous) {
    if (const hipError_t refused = refuse_synchronous_copy()) return refused;
  }
  if (fill.bytes == 0) return hipSuccess;
  if (fill.dst == nullptr) return hipErrorInvalidValue;
  const MemoryKind dst_kind = classify(fill.dst, fill.bytes);
  if (!device_side(dst_kind)) return hipErrorInvalidValue;
  Operation op = make_operation(OpKind::memset, fill_name,
                                [fill] { std::memset(fill.dst, fill.value, fill.bytes); });
  op.record.bytes = fill.bytes;
  op.record.dst = reinterpret_cast<uintptr_t>(fill.dst);
  op.record.dst_kind = ApiCall::current()->record.dst_kind = dst_kind;
  const bool must_wait = kind == FillCall::synchronous && dst_kind == MemoryKind::pinned;
  return submit_and_wait(guard, stream, std::move(op), must_wait ? Wait::yes : Wait::no);
}

}  // namespace

hipError_t hipMemcpy(void* dst, const void* src, size_t bytes, hipMemcpyKind kind) {
  ApiCall call("hipMemcpy");
  call.copy(dst, src, bytes);
  return call.finish(copy_synchronously({dst, src, bytes, kind}, nullptr, OnDevice::returns));
}

hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  ApiCall call("hipMemcpyWithStream");
  call.copy(dst, src, bytes).stream(stream);
  return call.finish(copy_synchronously({dst, src, bytes, kind}, stream, OnDevice::waits));
}

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  ApiCall call("hipMemcpyAsync");
  call.copy(dst, src, bytes).stream(stream);
  return call.finish(copy_asynchronously({dst, src, bytes, kind}, stream));
}

hipError_t hipMemset(void* dst, int value, size_t bytes) {
  ApiCall call("hipMemset");
  call.copy(dst, nullptr, bytes);
  return call.finish(fill({dst, value, bytes}, nullptr, FillCall::synchronous));
}

hipError_t hipMemsetAsync(void* dst, int value, size_t bytes, hipStream_t stream) {
  ApiCall call("hipMemsetAsync");
  call.copy(dst, nullptr, bytes).stream(stream);
  return call.finish(fill({dst, value, bytes}, stream, FillCall::asynchronous));
}
