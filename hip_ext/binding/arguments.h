// The arguments of the two ops, off torch's stack, and what must hold of them.
#pragma once

#include <torch/csrc/stable/stableivalue_conversions.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "tensor_view.h"

namespace hip_ext {

// References to every tensor of a call.
using HeldTensors = std::array<OwnedTensor, 14>;

// What both ops take.
struct BackwardTensors {
  TensorView dout, q, k, v, out, softmax_lse;
  TensorView dq, dk, dv;  // written
};

// Group mode has more to say than the tensors do.
struct GroupArguments {
  TensorView cu_seqlens_q, cu_seqlens_k;
  std::optional<TensorView> cu_seqlens_q_padded, cu_seqlens_k_padded;
  int64_t max_seqlen_q, max_seqlen_k;
  std::optional<int64_t> max_seqlen_k_padded;
  bool zero_tensors;
};

struct Choices {
  double softmax_scale;
  bool is_causal;
  bool deterministic;
  int64_t workspace;
  std::optional<int64_t> stream;
};

struct Call {
  std::shared_ptr<HeldTensors> held;
  BackwardTensors tensors;
  std::optional<GroupArguments> group;
  Choices choices;
  int64_t batch;
};

// Take every argument off the stack, in the order of the op's schema, and check them.
Call batch_call(const StableIValue* stack);
Call varlen_call(const StableIValue* stack);

}  // namespace hip_ext
