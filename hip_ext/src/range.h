// Named ranges of the host, which make the preparation and the host function visible in traces.
#pragma once

namespace hip_ext {

// Who else wants ranges of the callers' threads. `begin` gives what `end` gets, or null for a range
// that it leaves out. Both are called on the thread of the range and must not throw.
struct RangeListener {
  void* (*begin)(const char* name);
  void (*end)(void* begun);
};

// One for the process, given before the first range and for good.
void set_range_listener(RangeListener listener);

// A range of the calling thread while it lives. Written to roctx, or to NVTX, where a profiler has
// loaded one of them into the process; the CPU runtime records it; and to the listener. Else it
// costs a load and a test.
class Range {
 public:
  enum class Thread { caller, host_function };  // the listener is not called in host functions

  explicit Range(const char* name, Thread thread = Thread::caller) noexcept;
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  void* begun_ = nullptr;
};

}  // namespace hip_ext
