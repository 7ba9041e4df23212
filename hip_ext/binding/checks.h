// What must hold of an op's tensors before anything is launched. Each refusal names the argument.
#pragma once

#include <cstdint>

#include "arguments.h"

namespace hip_ext {

// Both give the batch, the number of sequences.
int64_t check_batch(const BackwardTensors& tensors);
int64_t check_varlen(const BackwardTensors& tensors, const GroupArguments& group);

// With zero_tensors the results are filled as they lie.
void check_contiguous(const BackwardTensors& tensors);

}  // namespace hip_ext
