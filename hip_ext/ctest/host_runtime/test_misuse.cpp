// Every misuse has an error code; nothing dereferences what the caller passed as a handle.
#include <string>
#include <vector>

#include "gate.h"

namespace {

hipError_t try_launch(hipStream_t stream) {
  return hip_host::launch_kernel("k", dim3(1), dim3(1), 0, stream, [] {});
}

/// Each call that takes a stream, on one that is none.
void check_stream_is_refused(hipStream_t bad) {
  char *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 8));
  OK(hipHostMalloc(&pinned, 8));
  hipEvent_t event = nullptr;
  OK(hipEventCreate(&event));
  unsigned flags = 0;
  hipGraph_t graph = nullptr;
  hipStreamCaptureStatus status;
  const std::vector<hipError_t> results = {
      try_launch(bad),
      hipStreamSynchronize(bad),
      hipStreamQuery(bad),
      hipStreamGetFlags(bad, &flags),
      hipStreamDestroy(bad),
      hipEventRecord(event, bad),
      hipStreamWaitEvent(bad, event, 0),
      hipMemcpyAsync(pinned, device, 8, hipMemcpyDeviceToHost, bad),
      hipMemcpyWithStream(pinned, device, 8, hipMemcpyDeviceToHost, bad),
      hipMemsetAsync(device, 0, 8, bad),
      hipLaunchHostFunc(
          bad, [](void*) {}, nullptr),
      hipStreamBeginCapture(bad, hipStreamCaptureModeGlobal),
      hipStreamEndCapture(bad, &graph),
      hipStreamIsCapturing(bad, &status),
  };
  for (const hipError_t result : results) CHECK(result == hipErrorContextIsDestroyed);
  OK(hipEventDestroy(event));
  OK(hipFree(device));
  OK(hipHostFree(pinned));
}

TEST(a_destroyed_stream_is_refused_everywhere) {
  hipStream_t stream = make_stream();
  OK(hipStreamDestroy(stream));
  hipStream_t later = make_stream();  // must not take the old one's place
  CHECK(later != stream);
  check_stream_is_refused(stream);
  OK(hipStreamDestroy(later));
}

TEST(a_stream_that_never_was_is_refused_everywhere) {
  int not_a_stream = 0;
  check_stream_is_refused(reinterpret_cast<hipStream_t>(&not_a_stream));
}

TEST(a_stream_that_is_being_destroyed_takes_no_more_work) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  Call destroy([&] { OK(hipStreamDestroy(stream)); });
  CHECK(!destroy.returns_within(patience));
  CHECK(try_launch(stream) == hipErrorContextIsDestroyed);
  held.release();
}

TEST(a_destroyed_event_is_refused_everywhere) {
  hipEvent_t event = nullptr;
  OK(hipEventCreate(&event));
  OK(hipEventDestroy(event));
  float ms = 0;
  for (const auto& [bad, code] :
       {std::pair{event, hipErrorContextIsDestroyed}, {hipEvent_t{}, hipErrorInvalidHandle}}) {
    CHECK(hipEventRecord(bad, nullptr) == code);
    CHECK(hipEventQuery(bad) == code);
    CHECK(hipEventSynchronize(bad) == code);
    CHECK(hipStreamWaitEvent(nullptr, bad, 0) == code);
    CHECK(hipEventElapsedTime(&ms, bad, bad) == code);
    CHECK(hipEventDestroy(bad) == code);
  }
}

TEST(freeing_twice_or_the_wrong_thing_is_refused) {
  char *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  CHECK(hipFree(device + 1) == hipErrorInvalidValue);
  CHECK(hipFree(pinned) == hipErrorInvalidValue);
  CHECK(hipHostFree(device) == hipErrorInvalidValue);
  int local = 0;
  CHECK(hipFree(&local) == hipErrorInvalidValue);
  OK(hipFree(device));
  CHECK(hipFree(device) == hipErrorInvalidValue);
  OK(hipHostFree(pinned));
  CHECK(hipHostFree(pinned) == hipErrorInvalidValue);
  OK(hipFree(nullptr));
  OK(hipHostFree(nullptr));
}

TEST(a_copy_that_leaves_its_allocation_is_refused) {
  char* device = nullptr;
  std::vector<char> host(100);
  OK(hipMalloc(&device, 64));
  OK(hipMemcpy(host.data(), device, 64, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(host.data(), device, 65, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(device + 1, host.data(), 64, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpyAsync(host.data(), device + 63, 2, hipMemcpyDeviceToHost, nullptr) ==
        hipErrorInvalidValue);
  CHECK(hipMemset(device, 0, 65) == hipErrorInvalidValue);
  CHECK(hipMemsetAsync(device + 32, 0, 33, nullptr) == hipErrorInvalidValue);
  OK(hipFree(device));
  CHECK(hipMemcpy(host.data(), device, 64, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemset(device, 0, 64) == hipErrorInvalidValue);
}

TEST(a_direction_that_does_not_fit_the_pointers_is_refused) {
  char *device = nullptr, host[8] = {}, more[8] = {};
  OK(hipMalloc(&device, 8));
  CHECK(hipMemcpy(host, more, 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host, more, 8, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host, device, 8, hipMemcpyHostToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host, device, 8, hipMemcpyDeviceToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host, device, 8, static_cast<hipMemcpyKind>(9)) ==
        hipErrorInvalidMemcpyDirection);
  CHECK(hipMemset(host, 0, 8) == hipErrorInvalidValue);
  OK(hipFree(device));
}

TEST(null_pointers_are_refused) {
  char *device = nullptr, host[8] = {};
  OK(hipMalloc(&device, 8));
  CHECK(hipMemcpy(nullptr, device, 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(device, nullptr, 8, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemset(nullptr, 0, 8) == hipErrorInvalidValue);
  OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
  OK(hipMemset(nullptr, 0, 0));
  CHECK(hipMalloc(static_cast<void**>(nullptr), 8) == hipErrorInvalidValue);
  CHECK(hipHostMalloc(static_cast<void**>(nullptr), 8) == hipErrorInvalidValue);
  CHECK(hipStreamCreate(nullptr) == hipErrorInvalidValue);
  CHECK(hipEventCreate(nullptr) == hipErrorInvalidValue);
  CHECK(hipStreamGetFlags(nullptr, nullptr) == hipErrorInvalidValue);
  CHECK(hipStreamDestroy(nullptr) == hipErrorInvalidHandle);
  CHECK(hipLaunchHostFunc(nullptr, nullptr, nullptr) == hipErrorInvalidValue);
  CHECK(hip_host::launch_kernel("k", dim3(1), dim3(1), 0, nullptr, nullptr) ==
        hipErrorInvalidValue);
  CHECK(hip_host::launch_kernel(nullptr, dim3(1), dim3(1), 0, nullptr, [] {}) ==
        hipErrorInvalidValue);
  hipPointerAttribute_t attributes;
  CHECK(hipPointerGetAttributes(&attributes, nullptr) == hipErrorInvalidValue);
  CHECK(hipPointerGetAttributes(nullptr, host) == hipErrorInvalidValue);
  CHECK(hipGetDevice(nullptr) == hipErrorInvalidValue);
  CHECK(hipGetDeviceProperties(nullptr, 0) == hipErrorInvalidValue);
  OK(hipFree(device));
}

TEST(bad_values_are_refused) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  CHECK(hipStreamCreateWithFlags(&stream, 7) == hipErrorInvalidValue);
  CHECK(hipEventCreateWithFlags(&event, 64) == hipErrorInvalidValue);
  OK(hipEventCreate(&event));
  CHECK(hipStreamWaitEvent(nullptr, event, 1) == hipErrorInvalidValue);
  OK(hipEventDestroy(event));
  CHECK(hip_host::launch_kernel("k", dim3(0), dim3(1), 0, nullptr, [] {}) == hipErrorInvalidValue);
  CHECK(hip_host::launch_kernel("k", dim3(1), dim3(1, 0), 0, nullptr, [] {}) ==
        hipErrorInvalidValue);
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  OK(hipSetDevice(0));
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 1) == hipErrorInvalidDevice);
  OK(hipGetDeviceProperties(&properties, 0));
  CHECK(std::string(properties.name) == "HIP host runtime (CPU)");
  CHECK(properties.multiProcessorCount >= 1);
  void* memory = nullptr;
  CHECK(hipMalloc(&memory, size_t{1} << 60) == hipErrorOutOfMemory);
  CHECK(memory == nullptr);
  OK(hipMalloc(&memory, 0));
  CHECK(memory == nullptr);
}

TEST(the_last_error_is_per_thread_and_cleared_by_reading) {
  (void)hipGetLastError();
  CHECK(hipSetDevice(5) == hipErrorInvalidDevice);
  OK(hipSetDevice(0));  // a success does not clear it
  CHECK(hipPeekAtLastError() == hipErrorInvalidDevice);
  std::thread([] { CHECK(hipGetLastError() == hipSuccess); }).join();
  CHECK(hipGetLastError() == hipErrorInvalidDevice);
  CHECK(hipGetLastError() == hipSuccess);
}

TEST(errors_have_names_and_texts) {
  CHECK(std::string(hipGetErrorName(hipErrorStreamCaptureImplicit)) ==
        "hipErrorStreamCaptureImplicit");
  CHECK(std::string(hipGetErrorString(hipErrorNotReady)) == "device not ready");
  CHECK(std::string(hipGetErrorName(static_cast<hipError_t>(12345))) == "hipErrorUnknown");
}

}  // namespace

CHECK_MAIN()
