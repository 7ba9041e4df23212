// Rows of fp16 and bf16 tensors to fp32 and back.
#pragma once

#include <cstdint>

#include "half.h"
#include "hip_ext/params.h"

namespace hip_ext {

namespace detail {

template <typename Half>
void load_row(const uint16_t* source, int32_t columns, float* target) {
  for (int32_t c = 0; c < columns; ++c) target[c] = Half::to_float(source[c]);
}

template <typename Half>
void store_row(const float* source, int32_t columns, uint16_t* target) {
  for (int32_t c = 0; c < columns; ++c) target[c] = Half::from_float(source[c]);
}

}  // namespace detail

// `element` is the index of the row's first element in the tensor.
inline void load_row(const void* tensor, int64_t element, DataType dtype, int32_t columns,
                     float* target) {
  const uint16_t* source = static_cast<const uint16_t*>(tensor) + element;
  if (dtype == DataType::bf16) {
    detail::load_row<Bf16>(source, columns, target);
  } else {
    detail::load_row<Fp16>(source, columns, target);
  }
}

inline void store_row(const float* source, int32_t columns, DataType dtype, void* tensor,
                      int64_t element) {
  uint16_t* target = static_cast<uint16_t*>(tensor) + element;
  if (dtype == DataType::bf16) {
    detail::store_row<Bf16>(source, columns, target);
  } else {
    detail::store_row<Fp16>(source, columns, target);
  }
}

}  // namespace hip_ext
