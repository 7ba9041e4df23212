// Lifetimes in stream order, for the torch binding. No HIP name for this: a GPU's allocator knows
// the streams, a CPU's does not.
#pragma once

#include <memory>

#include "hip_host/export.h"
#include "hip_host/hip_runtime.h"

namespace hip_host {

/// Holds `object` until all work enqueued on the stream so far is done, then drops it on the
/// stream's thread, without any lock of the runtime. On a capturing stream the graph holds it as
/// well. Never blocks; neither a call nor a device op is recorded.
HIP_HOST_API hipError_t retain_to_tail(hipStream_t stream, std::shared_ptr<void> object);

}  // namespace hip_host
