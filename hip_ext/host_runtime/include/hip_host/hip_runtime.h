// The subset of the HIP runtime that hip_ext uses, with HIP's names, types, values and semantics,
// on CPU threads. Everything has C++ linkage, so that these names never meet a real libamdhip64
// that another library may have loaded into the process. README.md has the semantics, call by call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "hip_host/export.h"

enum hipError_t : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidHandle = 400,
  hipErrorInvalidResourceHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotReady = 600,
  hipErrorContextIsDestroyed = 709,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureUnjoined = 904,
  hipErrorStreamCaptureIsolation = 905,
  hipErrorStreamCaptureImplicit = 906,
  hipErrorCapturedEvent = 907,
  hipErrorStreamCaptureWrongThread = 908,
  hipErrorUnknown = 999,
};

enum hipMemcpyKind : int {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};

enum hipMemoryType : int {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
};

enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};

enum hipStreamCaptureStatus : int {
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
  hipStreamCaptureStatusInvalidated = 2,
};

struct dim3 {
  uint32_t x = 1, y = 1, z = 1;
  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

struct hipDeviceProp_t {
  char name[256];
  char gcnArchName[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int multiProcessorCount;
  int major;
  int minor;
};

using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipGraph_t = struct ihipGraph*;
using hipGraphExec_t = struct hipGraphExec*;
using hipGraphNode_t = struct hipGraphNode*;
using hipHostFn_t = void (*)(void* user_data);

inline constexpr unsigned hipStreamDefault = 0;
inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr unsigned hipEventDefault = 0;
inline constexpr unsigned hipEventBlockingSync = 1;
inline constexpr unsigned hipEventDisableTiming = 2;
inline constexpr unsigned hipHostMallocDefault = 0;

// Errors and device. The last error is per thread.
HIP_HOST_API const char* hipGetErrorName(hipError_t error);
HIP_HOST_API const char* hipGetErrorString(hipError_t error);
HIP_HOST_API hipError_t hipGetLastError();
HIP_HOST_API hipError_t hipPeekAtLastError();
HIP_HOST_API hipError_t hipGetDevice(int* device);
HIP_HOST_API hipError_t hipSetDevice(int device);
HIP_HOST_API hipError_t hipGetDeviceCount(int* count);
HIP_HOST_API hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
/// Blocks until everything enqueued on any stream before the call is done.
HIP_HOST_API hipError_t hipDeviceSynchronize();

// Streams. Stream nullptr is the legacy null stream.
HIP_HOST_API hipError_t hipStreamCreate(hipStream_t* stream);
HIP_HOST_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
/// Blocks until the stream's work is done and no host function runs.
HIP_HOST_API hipError_t hipStreamDestroy(hipStream_t stream);
/// Blocks until the stream's work (null stream: of all blocking streams too) is done.
HIP_HOST_API hipError_t hipStreamSynchronize(hipStream_t stream);
HIP_HOST_API hipError_t hipStreamQuery(hipStream_t stream);
HIP_HOST_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                           unsigned flags = 0);
HIP_HOST_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags);

// Events.
HIP_HOST_API hipError_t hipEventCreate(hipEvent_t* event);
HIP_HOST_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
/// Blocks while a host function runs (the runtime lock).
HIP_HOST_API hipError_t hipEventDestroy(hipEvent_t event);
HIP_HOST_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
HIP_HOST_API hipError_t hipEventQuery(hipEvent_t event);
/// Blocks until the event's latest recording is reached.
HIP_HOST_API hipError_t hipEventSynchronize(hipEvent_t event);
HIP_HOST_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);

// Memory. The four calls take the runtime lock: each blocks while a host function runs. The frees
// wait for the whole device first (HIP before 7; hip_host::set_free_waits turns that off).
HIP_HOST_API hipError_t hipMalloc(void** pointer, size_t bytes);
HIP_HOST_API hipError_t hipFree(void* pointer);
HIP_HOST_API hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags = 0);
HIP_HOST_API hipError_t hipHostFree(void* pointer);
HIP_HOST_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                const void* pointer);

template <class T>
hipError_t hipMalloc(T** pointer, size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(pointer), bytes);
}

template <class T>
hipError_t hipHostMalloc(T** pointer, size_t bytes, unsigned flags = 0) {
  return hipHostMalloc(reinterpret_cast<void**>(pointer), bytes, flags);
}

// Copies and fills.
/// Null stream; blocks until the copy is done, except device to device.
HIP_HOST_API hipError_t hipMemcpy(void* dst, const void* src, size_t bytes, hipMemcpyKind kind);
/// Asynchronous for pinned and device memory. Pageable destination: blocks until the copy is done.
/// Pageable source: returns once the source is staged, does not wait for the stream.
HIP_HOST_API hipError_t hipMemcpyAsync(void* dst, const void* src, size_t bytes, hipMemcpyKind kind,
                                       hipStream_t stream = nullptr);
/// Blocks until the copy is done.
HIP_HOST_API hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t bytes,
                                            hipMemcpyKind kind, hipStream_t stream);
/// Null stream; asynchronous for device memory, blocks for pinned memory.
HIP_HOST_API hipError_t hipMemset(void* dst, int value, size_t bytes);
HIP_HOST_API hipError_t hipMemsetAsync(void* dst, int value, size_t bytes,
                                       hipStream_t stream = nullptr);

/// Runs `function` on the runtime's callback thread in stream order, with the runtime lock held:
/// a host function that allocates, frees or destroys deadlocks.
HIP_HOST_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                          void* user_data);

// Stream capture and graphs.
HIP_HOST_API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
HIP_HOST_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
HIP_HOST_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status);
HIP_HOST_API hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph,
                                            hipGraphNode_t* error_node, char* log_buffer,
                                            size_t buffer_bytes);
HIP_HOST_API hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
HIP_HOST_API hipError_t hipGraphExecDestroy(hipGraphExec_t exec);
HIP_HOST_API hipError_t hipGraphDestroy(hipGraph_t graph);

namespace hip_host {

/// Enqueues `body` as one kernel; recorded as API call hipLaunchKernel and a device op `name`. The
/// body runs once per launch on the stream's thread and walks the grid itself; it must not throw.
/// What it captures is destroyed before the op counts as done.
HIP_HOST_API hipError_t launch_kernel(const char* name, dim3 grid, dim3 block, size_t lds_bytes,
                                      hipStream_t stream, std::function<void()> body);

/// True (the start value): hipFree and hipHostFree wait for the device, as HIP before 7.
HIP_HOST_API void set_free_waits(bool waits);

/// Declares memory of another allocator (a CPU tensor) to be device memory, so that copies accept
/// it where HIP wants a device pointer. Counted: one unregister per register. Takes no runtime lock
/// and never blocks, so a host function may call both.
HIP_HOST_API hipError_t register_device_memory(const void* pointer, size_t bytes);
HIP_HOST_API hipError_t unregister_device_memory(const void* pointer, size_t bytes);

}  // namespace hip_host
