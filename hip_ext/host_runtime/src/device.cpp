// The one device, and errors.
#include <unistd.h>

#include <cstring>
#include <thread>

#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;

namespace {

struct ErrorText {
  hipError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText error_texts[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {hipErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {hipErrorCapturedEvent, "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {hipErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const ErrorText& text_of(hipError_t error) {
  for (const ErrorText& entry : error_texts) {
    if (entry.error == error) return entry;
  }
  return text_of(hipErrorUnknown);
}

hipDeviceProp_t make_properties() {
  hipDeviceProp_t properties{};
  std::strncpy(properties.name, "HIP host runtime (CPU)", sizeof properties.name - 1);
  std::strncpy(properties.gcnArchName, "host", sizeof properties.gcnArchName - 1);
  properties.totalGlobalMem =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  properties.sharedMemPerBlock = 64 * 1024;
  properties.warpSize = 64;
  properties.maxThreadsPerBlock = 1024;
  const unsigned cores = std::thread::hardware_concurrency();
  properties.multiProcessorCount = cores > 0 ? static_cast<int>(cores) : 1;
  return properties;
}

hipError_t synchronize_device() {
  Guard guard(runtime().mutex);
  if (const hipError_t refused = refuse_device_wait()) return refused;
  wait_until_reached(guard, all_tails());
  return hipSuccess;
}

}  // namespace

const char* hipGetErrorName(hipError_t error) { return text_of(error).name; }

const char* hipGetErrorString(hipError_t error) { return text_of(error).text; }

hipError_t hipGetLastError() {
  ApiCall call("hipGetLastError");
  return call.record.result = last_error(/*clear=*/true);
}

hipError_t hipPeekAtLastError() {
  ApiCall call("hipPeekAtLastError");
  return call.record.result = last_error(/*clear=*/false);
}

hipError_t hipGetDevice(int* device) {
  ApiCall call("hipGetDevice");
  if (device == nullptr) return call.finish(hipErrorInvalidValue);
  *device = 0;
  return call.finish(hipSuccess);
}

hipError_t hipSetDevice(int device) {
  ApiCall call("hipSetDevice");
  return call.finish(device == 0 ? hipSuccess : hipErrorInvalidDevice);
}

hipError_t hipGetDeviceCount(int* count) {
  ApiCall call("hipGetDeviceCount");
  if (count == nullptr) return call.finish(hipErrorInvalidValue);
  *count = 1;
  return call.finish(hipSuccess);
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  ApiCall call("hipGetDeviceProperties");
  if (properties == nullptr) return call.finish(hipErrorInvalidValue);
  if (device != 0) return call.finish(hipErrorInvalidDevice);
  static const hipDeviceProp_t made = make_properties();
  *properties = made;
  return call.finish(hipSuccess);
}

hipError_t hipDeviceSynchronize() {
  ApiCall call("hipDeviceSynchronize");
  return call.finish(synchronize_device());
}
