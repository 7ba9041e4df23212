#include "hip_host/retention.h"

#include <utility>

#include "runtime.h"

using namespace hip_host::detail;

hipError_t hip_host::retain_to_tail(hipStream_t stream, std::shared_ptr<void> object) {
  if (!object) return hipErrorInvalidValue;
  // A marker: the work does nothing, and what it holds dies when the stream has passed it.
  Operation op = make_operation(OpKind::marker, "retain_to_tail", [object = std::move(object)] {});
  Guard guard(runtime().mutex);
  return submit(stream, op);
}
