// Attention and its gradients in float64, written as the formulas read.
#pragma once

#include "problem.h"

namespace hip_ext_test {

uint16_t round_to(hip_ext::DataType dtype, double value);
double value_of(hip_ext::DataType dtype, uint16_t bits);

// The tensors of a problem and where one sequence starts in them.
struct ReferenceView {
  const Shape& shape;
  const std::vector<uint16_t>& q;
  const std::vector<uint16_t>& k;
  const std::vector<uint16_t>& v;
  const std::vector<uint16_t>& out;
  const std::vector<uint16_t>& dout;
  const std::vector<float>& lse;
  int q_start;
  int k_start;
  int rows_q;
};

void reference_forward(const ReferenceView& view, const Sequence& sequence,
                       std::vector<uint16_t>& out, std::vector<float>& lse);

// `rounded` takes every intermediate to the tensors' type, as a plain half-precision program would.
void reference_backward(const ReferenceView& view, const Sequence& sequence, bool rounded,
                        Gradients& gradients);

}  // namespace hip_ext_test
