#include "profiler_ranges.h"

#include <dlfcn.h>
#include <torch/csrc/stable/c/shim.h>
#include <torch/csrc/stable/stableivalue_conversions.h>

#include <optional>
#include <string>

#include "range.h"

namespace hip_ext {

namespace {

// at::hasCallbacks(): whether a profiler records this thread. It is no part of torch's stable C
// interface, so it is looked up; without it there are no ranges and nothing else changes.
using IsProfiled = bool (*)();

IsProfiled is_profiled() {
  static const auto found =
      reinterpret_cast<IsProfiled>(dlsym(RTLD_DEFAULT, "_ZN2at12hasCallbacksEv"));
  return found;
}

// torch's two ops behind record_function in their older form, whose handle is a tensor. Of the C
// interface's own functions the ranges would be ops.
void* begin(const char* name) {
  if (!is_profiled()()) return nullptr;
  StableIValue stack[] = {torch::stable::detail::from(std::string(name)),
                          torch::stable::detail::from(std::nullopt)};
  if (torch_call_dispatcher("profiler::_record_function_enter", "", stack, TORCH_ABI_VERSION) !=
      TORCH_SUCCESS) {
    return nullptr;
  }
  return torch::stable::detail::to<AtenTensorHandle>(stack[0]);
}

// The op takes the handle, and with it the last reference.
void end(void* begun) {
  StableIValue stack[] = {torch::stable::detail::from(static_cast<AtenTensorHandle>(begun))};
  torch_call_dispatcher("profiler::_record_function_exit", "", stack, TORCH_ABI_VERSION);
}

}  // namespace

void show_ranges_to_torch() {
  if (is_profiled() != nullptr) set_range_listener({begin, end});
}

}  // namespace hip_ext
