// Kernels and host functions.
#include "api_call.h"
#include "runtime.h"

using namespace hip_host::detail;
using hip_host::OpKind;

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* user_data) {
  ApiCall call("hipLaunchHostFunc");
  call.stream(stream);
  if (function == nullptr) return call.finish(hipErrorInvalidValue);
  Operation op = make_operation(OpKind::host_function, "hipLaunchHostFunc",
                                [function, user_data] { function(user_data); });
  Guard guard(runtime().mutex);
  return call.finish(submit(stream, op));
}

hipError_t hip_host::launch_kernel(const char* name, dim3 grid, dim3 block, size_t lds_bytes,
                                   hipStream_t stream, std::function<void()> body) {
  ApiCall call("hipLaunchKernel");
  call.stream(stream);
  const bool empty = grid.x == 0 || grid.y == 0 || grid.z == 0;
  if (name == nullptr || !body || empty || block.x == 0 || block.y == 0 || block.z == 0) {
    return call.finish(hipErrorInvalidValue);
  }
  Operation op = make_operation(OpKind::kernel, name, std::move(body));
  op.record.grid = grid;
  op.record.block = block;
  op.record.lds_bytes = lds_bytes;
  call.record.kernel = op.record.name;
  Guard guard(runtime().mutex);
  return call.finish(submit(stream, op));
}
