// dk and dv of the key heads, from those of the query heads.
#pragma once

#include <cstdint>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"

namespace hip_ext {

struct ReduceHeadsParams {
  const void* expanded;  // [batch, rows, nhead_k * group, columns], contiguous
  void* reduced;         // [batch, rows, nhead_k, columns]
  TensorStrides reduced_stride;
  int64_t batch;  // 1 in group mode
  int64_t rows;
  int32_t nhead_k;
  int32_t group;  // query heads that share a key head
  int32_t columns;
  DataType dtype;
};

// Adds up the heads of each group in fp32 and in a fixed order. Enqueues one kernel.
void reduce_heads(const ReduceHeadsParams& params, hipStream_t stream);

}  // namespace hip_ext
