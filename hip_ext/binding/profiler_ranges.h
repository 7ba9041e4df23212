// The launcher's ranges in captures of torch.profiler, as torch's record_function would make them.
#pragma once

namespace hip_ext {

// From now on. Costs a call a range while no profiler is at work.
void show_ranges_to_torch();

}  // namespace hip_ext
