#include "range.h"

#include "hip_ext/gpu.h"

#if !defined(HIP_EXT_TARGET_HOST)
#include <dlfcn.h>
#endif

namespace hip_ext {

namespace {

using Push = int (*)(const char*);
using Pop = int (*)();

struct Marker {
  Push push = nullptr;
  Pop pop = nullptr;
};

#if defined(HIP_EXT_TARGET_HOST)

const Marker& marker() {
  static const Marker found = {roctxRangePushA, roctxRangePop};
  return found;
}

#else

struct Library {
  const char* file;
  const char* push;
  const char* pop;
};

// Only what is loaded already: these are there when a profiler listens, and cost nothing otherwise.
Marker loaded_marker() {
  constexpr Library kKnown[] = {
      {"librocprofiler-sdk-roctx.so.1", "roctxRangePushA", "roctxRangePop"},
      {"librocprofiler-sdk-roctx.so.0", "roctxRangePushA", "roctxRangePop"},
      {"librocprofiler-sdk-roctx.so", "roctxRangePushA", "roctxRangePop"},
      {"libroctx64.so.4", "roctxRangePushA", "roctxRangePop"},
      {"libnvToolsExt.so.1", "nvtxRangePushA", "nvtxRangePop"},
  };
  for (const Library& known : kKnown) {
    void* library = dlopen(known.file, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const Marker found = {reinterpret_cast<Push>(dlsym(library, known.push)),
                          reinterpret_cast<Pop>(dlsym(library, known.pop))};
    if (found.push != nullptr && found.pop != nullptr) return found;
  }
  return {};
}

const Marker& marker() {
  static const Marker found = loaded_marker();
  return found;
}

#endif

RangeListener also = {};

}  // namespace

void set_range_listener(RangeListener listener) { also = listener; }

Range::Range(const char* name, Thread thread) noexcept {
  if (marker().push != nullptr) marker().push(name);
  if (also.begin != nullptr && thread == Thread::caller) begun_ = also.begin(name);
}

Range::~Range() {
  if (begun_ != nullptr) also.end(begun_);
  if (marker().pop != nullptr) marker().pop();
}

}  // namespace hip_ext
