// One name for each runtime call on three targets; the only file with a vendor include.
//
//   HIP_EXT_TARGET_HOST   the CPU runtime of this project (hip_ext/host_runtime)
//   HIP_EXT_TARGET_HIP    AMD, compiled as HIP
//   HIP_EXT_TARGET_CUDA   NVIDIA, HIP's names as aliases (cuda_names.h)
//
// The code says hipX everywhere. CMake defines exactly one of the macros.
#pragma once

#include <stdexcept>
#include <string>

#if defined(HIP_EXT_TARGET_HIP)
#include <hip/hip_runtime.h>
#elif defined(HIP_EXT_TARGET_CUDA)
#include <cuda_runtime.h>

#include "hip_ext/cuda_names.h"
#elif defined(HIP_EXT_TARGET_HOST)
#include "hip_host/hip_runtime.h"
#include "hip_host/roctx.h"
#else
#error "define HIP_EXT_TARGET_HOST, HIP_EXT_TARGET_HIP or HIP_EXT_TARGET_CUDA"
#endif

// In front of functions that both the host and a device kernel call.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define HIP_EXT_HOST_DEVICE __host__ __device__
#else
#define HIP_EXT_HOST_DEVICE
#endif

namespace hip_ext {

// A runtime call failed, or work that was already enqueued did.
class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws GpuError with the call, the error's name and the place; returns on success.
void gpu_check(hipError_t error, const char* call, const char* file, int line);

// The same for destructors: prints to stderr. Returns whether the call succeeded.
bool gpu_check_noexcept(hipError_t error, const char* call, const char* file, int line) noexcept;

}  // namespace hip_ext

#define GPU_CHECK(call) ::hip_ext::gpu_check((call), #call, __FILE__, __LINE__)
#define GPU_CHECK_NOEXCEPT(call) ::hip_ext::gpu_check_noexcept((call), #call, __FILE__, __LINE__)

// Enqueues kernel(args...) on a stream. On the host target the kernel is a plain function that runs
// once and loops over the grid itself; its arguments are copied, as a GPU launch copies them.
#if defined(HIP_EXT_TARGET_HOST)
#define GPU_LAUNCH(kernel, grid, block, lds_bytes, stream, ...) \
  GPU_CHECK(::hip_ext::launch_on_host(#kernel, kernel, grid, block, lds_bytes, stream, __VA_ARGS__))

namespace hip_ext {

template <typename Kernel, typename... Args>
hipError_t launch_on_host(const char* name, Kernel kernel, dim3 grid, dim3 block, size_t lds_bytes,
                          hipStream_t stream, Args... args) {
  return hip_host::launch_kernel(name, grid, block, lds_bytes, stream,
                                 [kernel, args...] { kernel(args...); });
}

}  // namespace hip_ext
#else
// What an earlier call left as this thread's last error is not the launch's: NotReady of a query,
// for example. Whoever made that call has seen it.
#define GPU_LAUNCH(kernel, grid, block, lds_bytes, stream, ...)      \
  do {                                                               \
    (void)hipGetLastError();                                         \
    kernel<<<(grid), (block), (lds_bytes), (stream)>>>(__VA_ARGS__); \
    GPU_CHECK(hipGetLastError());                                    \
  } while (0)
#endif
