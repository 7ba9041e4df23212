// Named ranges of the host, which make the preparation and the host function visible in traces.
#pragma once

namespace hip_ext {

// A range of the calling thread while it lives. Written to roctx, or to NVTX, where a profiler has
// loaded one of them into the process; the CPU runtime records it. Else it costs a load and a test.
class Range {
 public:
  explicit Range(const char* name) noexcept;
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace hip_ext
