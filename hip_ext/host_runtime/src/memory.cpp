// Allocation. Pinned memory is ordinary memory that the runtime knows about: nothing pages here.
#include <unistd.h>

#include <cstdlib>

#include "api_call.h"
#include "runtime.h"

namespace hip_host::detail {
namespace {

/// The entry whose range holds `address`, or null.
const std::pair<const uintptr_t, Allocation>* holder_of(uintptr_t address) {
  const auto& allocations = runtime().allocations;
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return nullptr;
  const auto& entry = *--next;
  return address < entry.first + entry.second.bytes ? &entry : nullptr;
}

MemoryKind classify_registered(uintptr_t address, size_t bytes) {
  bool starts_inside = false;
  for (const auto& [base, size] : runtime().registered) {
    if (address < base || address >= base + size) continue;
    if (bytes <= base + size - address) return MemoryKind::device;
    starts_inside = true;
  }
  return starts_inside ? MemoryKind::none : MemoryKind::pageable;
}

}  // namespace

MemoryKind classify(const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto* entry = holder_of(address);
  if (entry == nullptr) return classify_registered(address, bytes);
  const bool fits = bytes <= entry->first + entry->second.bytes - address;
  return fits ? entry->second.kind : MemoryKind::none;
}

}  // namespace hip_host::detail

using namespace hip_host::detail;
using hip_host::MemoryKind;

namespace {

constexpr size_t alignment = 4096;  // hipMalloc aligns to pages; the launcher's layout counts on it

size_t physical_bytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

hipError_t allocate(void** pointer, size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return hipErrorInvalidValue;
  *pointer = nullptr;
  Guard guard(runtime().mutex);
  if (const hipError_t refused = refuse_unsafe_call()) return refused;
  if (bytes == 0) return hipSuccess;
  if (bytes > physical_bytes()) return hipErrorOutOfMemory;
  RuntimeLockScope lock(guard);
  guard.unlock();
  void* made = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  guard.lock();
  if (made == nullptr) return hipErrorOutOfMemory;
  runtime().allocations[reinterpret_cast<uintptr_t>(made)] = {bytes, kind};
  *pointer = made;
  return hipSuccess;
}

/// Waits before it takes the lock: a host function that is still queued needs the lock to run.
hipError_t release(void* pointer, MemoryKind kind) {
  if (pointer == nullptr) return hipSuccess;
  Runtime& self = runtime();
  Guard guard(self.mutex);
  if (const hipError_t refused = refuse_unsafe_call()) return refused;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto is_ours = [&] {
    const auto found = self.allocations.find(address);
    return found != self.allocations.end() && found->second.kind == kind;
  };
  if (!is_ours()) return hipErrorInvalidValue;
  if (self.free_waits) wait_until_reached(guard, all_tails());
  RuntimeLockScope lock(guard);
  if (!is_ours()) return hipErrorInvalidValue;  // freed by another thread meanwhile
  self.allocations.erase(address);
  guard.unlock();
  std::free(pointer);
  return hipSuccess;
}

hipError_t describe(hipPointerAttribute_t* attributes, const void* pointer) {
  if (attributes == nullptr || pointer == nullptr) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  const MemoryKind kind = classify(pointer, /*bytes=*/1);
  *attributes = {};
  auto* address = const_cast<void*>(pointer);
  if (kind == MemoryKind::device || kind == MemoryKind::pinned) attributes->devicePointer = address;
  if (kind == MemoryKind::pinned) attributes->hostPointer = address;
  attributes->type = kind == MemoryKind::device   ? hipMemoryTypeDevice
                     : kind == MemoryKind::pinned ? hipMemoryTypeHost
                                                  : hipMemoryTypeUnregistered;
  return hipSuccess;
}

}  // namespace

hipError_t hipMalloc(void** pointer, size_t bytes) {
  ApiCall call("hipMalloc");
  call.record.bytes = bytes;
  const hipError_t result = allocate(pointer, bytes, MemoryKind::device);
  if (result == hipSuccess) call.copy(*pointer, nullptr, bytes);
  return call.finish(result);
}

hipError_t hipFree(void* pointer) {
  ApiCall call("hipFree");
  return call.copy(pointer, nullptr, 0).finish(release(pointer, MemoryKind::device));
}

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  ApiCall call("hipHostMalloc");
  call.record.bytes = bytes;
  if (flags != hipHostMallocDefault) return call.finish(hipErrorInvalidValue);
  const hipError_t result = allocate(pointer, bytes, MemoryKind::pinned);
  if (result == hipSuccess) call.copy(*pointer, nullptr, bytes);
  return call.finish(result);
}

hipError_t hipHostFree(void* pointer) {
  ApiCall call("hipHostFree");
  return call.copy(pointer, nullptr, 0).finish(release(pointer, MemoryKind::pinned));
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  ApiCall call("hipPointerGetAttributes");
  return call.finish(describe(attributes, pointer));
}

namespace hip_host {

void set_free_waits(bool waits) { runtime().free_waits = waits; }

hipError_t register_device_memory(const void* pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) return hipErrorInvalidValue;
  Guard guard(runtime().mutex);
  runtime().registered.emplace(reinterpret_cast<uintptr_t>(pointer), bytes);
  return hipSuccess;
}

hipError_t unregister_device_memory(const void* pointer, size_t bytes) {
  Guard guard(runtime().mutex);
  auto& registered = runtime().registered;
  auto [entry, end] = registered.equal_range(reinterpret_cast<uintptr_t>(pointer));
  for (; entry != end; ++entry) {
    if (entry->second != bytes) continue;
    registered.erase(entry);
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

}  // namespace hip_host
