// From tensors to what the launcher takes.
#pragma once

#include "arguments.h"
#include "hip_ext/params.h"

namespace hip_ext {

TensorStrides strides_of(const TensorView& tensor);

// dk and dv have a head for each of q here. All tensors are checked; memory stays the caller's.
FmhaBwdParams parameters_of(const Call& call, const TensorView& expanded_dk,
                            const TensorView& expanded_dv, const TensorView& softmax_d);

}  // namespace hip_ext
