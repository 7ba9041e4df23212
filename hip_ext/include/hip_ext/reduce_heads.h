// dk and dv of the key heads, from those of the query heads.
#pragma once

#include <cstdint>

#include "hip_ext/gpu.h"
#include "hip_ext/params.h"

namespace hip_ext {

struct ReduceHeadsParams {
  const void* expanded;  // [batch, rows, nhead_k * group, columns], contiguous
  void* reduced;         // [batch, rows, nhead_k, columns]; group mode: both without batch
  TensorStrides reduced_stride;
  int32_t batch;
  int32_t rows;  // of a sequence; group mode: of the tensor
  // As in FmhaBwdParams: null in batch mode.
  const int32_t* seqstart;
  const int32_t* cu_seqlen;
  int32_t nhead_k;
  int32_t group;  // query heads that share a key head
  int32_t columns;
  DataType dtype;
};

// Adds up the heads of each group in fp32 and in a fixed order. Enqueues one kernel. Padding rows
// are left as they are: nobody has written those of `expanded`.
void reduce_heads(const ReduceHeadsParams& params, hipStream_t stream);

}  // namespace hip_ext
