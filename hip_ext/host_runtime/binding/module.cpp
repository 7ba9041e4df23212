// Python's door to the runtime: recording, and as much of HIP as tests and the demo call. Handles
// and pointers are ints. Every call that may block releases the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hip_host/hip_runtime.h"
#include "hip_host/recorder.h"
#include "records.h"

namespace nb = nanobind;

namespace {

void check(hipError_t error, const char* call) {
  if (error == hipSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + hipGetErrorName(error) + ": " +
                           hipGetErrorString(error));
}

hipStream_t as_stream(uintptr_t handle) { return reinterpret_cast<hipStream_t>(handle); }

void* as_pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

uintptr_t as_number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

uintptr_t stream_create(bool blocking) {
  hipStream_t stream = nullptr;
  check(hipStreamCreateWithFlags(&stream, blocking ? hipStreamDefault : hipStreamNonBlocking),
        "hipStreamCreateWithFlags");
  return as_number(stream);
}

bool stream_query(uintptr_t stream) {
  const hipError_t state = hipStreamQuery(as_stream(stream));
  if (state == hipErrorNotReady) return false;
  check(state, "hipStreamQuery");
  return true;
}

bool stream_is_blocking(uintptr_t stream) {
  unsigned flags = 0;
  check(hipStreamGetFlags(as_stream(stream), &flags), "hipStreamGetFlags");
  return flags == hipStreamDefault;
}

uintptr_t device_malloc(size_t bytes) {
  void* pointer = nullptr;
  check(hipMalloc(&pointer, bytes), "hipMalloc");
  return as_number(pointer);
}

uintptr_t pinned_malloc(size_t bytes) {
  void* pointer = nullptr;
  check(hipHostMalloc(&pointer, bytes), "hipHostMalloc");
  return as_number(pointer);
}

/// Real arithmetic for tests that need a device op of some length: x = a x (1 - x), `rounds` times
/// over `size` values. The result goes where the compiler cannot ignore it.
void launch_test_kernel(uintptr_t stream, size_t size, size_t rounds, const std::string& name) {
  auto body = [values = std::vector<float>(size, 0.5f), rounds]() mutable {
    for (size_t round = 0; round < rounds; ++round) {
      for (float& x : values) x = 3.7f * x * (1.0f - x);
    }
    asm volatile("" : : "r"(values.data()) : "memory");
  };
  check(hip_host::launch_kernel(name.c_str(), dim3(1), dim3(1), /*lds_bytes=*/0, as_stream(stream),
                                std::move(body)),
        "hipLaunchKernel");
}

/// Does nothing: for traces that need a host function. Python code never runs in one.
void launch_test_host_function(uintptr_t stream) {
  check(hipLaunchHostFunc(as_stream(stream), [](void*) {}, nullptr), "hipLaunchHostFunc");
}

nb::dict device_properties() {
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
  nb::dict table;
  table["name"] = properties.name;
  table["arch"] = properties.gcnArchName;
  table["total_bytes"] = properties.totalGlobalMem;
  table["multiprocessor_count"] = properties.multiProcessorCount;
  table["warp_size"] = properties.warpSize;
  return table;
}

using Released = nb::call_guard<nb::gil_scoped_release>;

void add_streams(nb::module_& m) {
  m.def("stream_create", &stream_create, nb::kw_only(), nb::arg("blocking") = true, Released());
  m.def(
      "stream_destroy",
      [](uintptr_t s) { check(hipStreamDestroy(as_stream(s)), "hipStreamDestroy"); },
      nb::arg("stream"), Released());
  m.def(
      "stream_synchronize",
      [](uintptr_t s) { check(hipStreamSynchronize(as_stream(s)), "hipStreamSynchronize"); },
      nb::arg("stream"), Released());
  m.def("stream_query", &stream_query, nb::arg("stream"), Released());
  m.def("stream_is_blocking", &stream_is_blocking, nb::arg("stream"), Released());
  m.def(
      "device_synchronize", [] { check(hipDeviceSynchronize(), "hipDeviceSynchronize"); },
      Released());
  m.def("device_properties", &device_properties);
  m.def("launch_test_kernel", &launch_test_kernel, nb::arg("stream"), nb::kw_only(),
        nb::arg("size") = 4096, nb::arg("rounds") = 1000, nb::arg("name") = "test_kernel",
        Released());
  m.def("launch_test_host_function", &launch_test_host_function, nb::arg("stream"), Released());
}

void add_memory(nb::module_& m) {
  m.def("set_free_waits", &hip_host::set_free_waits, nb::arg("waits"));
  m.def("device_malloc", &device_malloc, nb::arg("size"), Released());
  m.def("pinned_malloc", &pinned_malloc, nb::arg("size"), Released());
  m.def(
      "device_free", [](uintptr_t p) { check(hipFree(as_pointer(p)), "hipFree"); },
      nb::arg("pointer"), Released());
  m.def(
      "pinned_free", [](uintptr_t p) { check(hipHostFree(as_pointer(p)), "hipHostFree"); },
      nb::arg("pointer"), Released());
  m.def(
      "register_device_memory",
      [](uintptr_t p, size_t bytes) {
        check(hip_host::register_device_memory(as_pointer(p), bytes), "register_device_memory");
      },
      nb::arg("pointer"), nb::arg("size"), Released());
  m.def(
      "unregister_device_memory",
      [](uintptr_t p, size_t bytes) {
        check(hip_host::unregister_device_memory(as_pointer(p), bytes), "unregister_device_memory");
      },
      nb::arg("pointer"), nb::arg("size"), Released());
}

void add_copies(nb::module_& m) {
  m.def(
      "memcpy",
      [](uintptr_t dst, uintptr_t src, size_t bytes, hipMemcpyKind kind) {
        check(hipMemcpy(as_pointer(dst), as_pointer(src), bytes, kind), "hipMemcpy");
      },
      nb::arg("dst"), nb::arg("src"), nb::arg("size"), nb::kw_only(),
      nb::arg("kind") = hipMemcpyDefault, Released());
  m.def(
      "memcpy_async",
      [](uintptr_t dst, uintptr_t src, size_t bytes, uintptr_t stream, hipMemcpyKind kind) {
        check(hipMemcpyAsync(as_pointer(dst), as_pointer(src), bytes, kind, as_stream(stream)),
              "hipMemcpyAsync");
      },
      nb::arg("dst"), nb::arg("src"), nb::arg("size"), nb::arg("stream"), nb::kw_only(),
      nb::arg("kind") = hipMemcpyDefault, Released());
  m.def(
      "memset_async",
      [](uintptr_t dst, int value, size_t bytes, uintptr_t stream) {
        check(hipMemsetAsync(as_pointer(dst), value, bytes, as_stream(stream)), "hipMemsetAsync");
      },
      nb::arg("dst"), nb::arg("value"), nb::arg("size"), nb::arg("stream"), Released());
}

void add_enums(nb::module_& m) {
  nb::enum_<hipMemcpyKind>(m, "CopyKind", nb::is_arithmetic())
      .value("HOST_TO_HOST", hipMemcpyHostToHost)
      .value("HOST_TO_DEVICE", hipMemcpyHostToDevice)
      .value("DEVICE_TO_HOST", hipMemcpyDeviceToHost)
      .value("DEVICE_TO_DEVICE", hipMemcpyDeviceToDevice)
      .value("DEFAULT", hipMemcpyDefault);
  nb::enum_<hip_host::MemoryKind>(m, "MemoryKind", nb::is_arithmetic())
      .value("NONE", hip_host::MemoryKind::none)
      .value("PAGEABLE", hip_host::MemoryKind::pageable)
      .value("PINNED", hip_host::MemoryKind::pinned)
      .value("DEVICE", hip_host::MemoryKind::device);
  nb::enum_<hip_host::OpKind>(m, "OpKind", nb::is_arithmetic())
      .value("KERNEL", hip_host::OpKind::kernel)
      .value("MEMCPY", hip_host::OpKind::memcpy)
      .value("MEMSET", hip_host::OpKind::memset)
      .value("HOST_FUNCTION", hip_host::OpKind::host_function);
}

}  // namespace

NB_MODULE(_host_runtime, m) {
  add_enums(m);  // first: functions below use them as defaults
  hip_host_binding::add_recording(m);
  add_streams(m);
  add_memory(m);
  add_copies(m);
}
