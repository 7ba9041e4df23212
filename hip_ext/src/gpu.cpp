#include "hip_ext/gpu.h"

#include <cstdio>

namespace hip_ext {

void gpu_check(hipError_t error, const char* call, const char* file, int line) {
  if (error == hipSuccess) return;
  (void)hipGetLastError();  // it is thrown, and must not be found again by the next launch
  throw GpuError(std::string(call) + " failed: " + hipGetErrorName(error) + " (" + file + ":" +
                 std::to_string(line) + ")");
}

bool gpu_check_noexcept(hipError_t error, const char* call, const char* file, int line) noexcept {
  if (error == hipSuccess) return true;
  std::fprintf(stderr, "%s failed: %s (%s:%d)\n", call, hipGetErrorName(error), file, line);
  return false;
}

}  // namespace hip_ext
