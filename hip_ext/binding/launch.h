// One checked call of an op, enqueued on its stream.
#pragma once

#include "arguments.h"

namespace hip_ext {

// Gives softmax_d, [batch, heads, rows] in float32. In group mode every batch index shows the same
// [heads, rows].
OwnedTensor launch(const Call& call);

}  // namespace hip_ext
