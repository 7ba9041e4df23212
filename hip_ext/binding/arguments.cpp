#include "arguments.h"

#include "checks.h"
#include "refusal.h"

namespace hip_ext {

namespace {

// Whoever takes an argument off the stack owns it. Nothing here throws for what a caller may do, so
// that none is lost half way.
class Stack {
 public:
  explicit Stack(const StableIValue* next) : next_(next), held_(std::make_shared<HeldTensors>()) {}

  template <typename Value>
  Value take() {
    return torch::stable::detail::to<Value>(*next_++);
  }

  AtenTensorHandle take_tensor() { return hold(take<AtenTensorHandle>()); }

  AtenTensorHandle take_optional_tensor() {
    const auto tensor = take<std::optional<AtenTensorHandle>>();
    return tensor ? hold(*tensor) : nullptr;
  }

  std::shared_ptr<HeldTensors> held() { return std::move(held_); }

 private:
  AtenTensorHandle hold(AtenTensorHandle tensor) {
    held_->at(count_++).reset(tensor);
    return tensor;
  }

  const StableIValue* next_;
  std::shared_ptr<HeldTensors> held_;
  size_t count_ = 0;
};

// In the order of the schemas.
struct Inputs {
  AtenTensorHandle dout, q, k, v, out, softmax_lse;
};

struct Outputs {
  AtenTensorHandle dq, dk, dv;
};

Inputs take_inputs(Stack& stack) {
  // Braces keep the order.
  return {stack.take_tensor(), stack.take_tensor(), stack.take_tensor(),
          stack.take_tensor(), stack.take_tensor(), stack.take_tensor()};
}

Outputs take_outputs(Stack& stack) {
  return {stack.take_tensor(), stack.take_tensor(), stack.take_tensor()};
}

BackwardTensors viewed(const Inputs& in, const Outputs& out) {
  return {TensorView(in.dout), TensorView(in.q),   TensorView(in.k),
          TensorView(in.v),    TensorView(in.out), TensorView(in.softmax_lse),
          TensorView(out.dq),  TensorView(out.dk), TensorView(out.dv)};
}

std::optional<TensorView> viewed(AtenTensorHandle tensor) {
  if (tensor == nullptr) return std::nullopt;
  return TensorView(tensor);
}

}  // namespace

Call batch_call(const StableIValue* values) {
  Stack stack(values);
  const Inputs inputs = take_inputs(stack);
  Choices choices{};
  choices.softmax_scale = stack.take<double>();
  choices.is_causal = stack.take<bool>();
  choices.deterministic = stack.take<bool>();
  const Outputs outputs = take_outputs(stack);
  choices.workspace = stack.take<int64_t>();
  choices.stream = stack.take<std::optional<int64_t>>();

  Call call{stack.held(), viewed(inputs, outputs), std::nullopt, choices, 0};
  call.batch = check_batch(call.tensors);
  return call;
}

Call varlen_call(const StableIValue* values) {
  Stack stack(values);
  const Inputs inputs = take_inputs(stack);
  AtenTensorHandle const cu_seqlens_q = stack.take_tensor();
  AtenTensorHandle const cu_seqlens_k = stack.take_tensor();
  const auto max_seqlen_q = stack.take<int64_t>();
  const auto max_seqlen_k = stack.take<int64_t>();
  Choices choices{};
  choices.softmax_scale = stack.take<double>();
  const bool zero_tensors = stack.take<bool>();
  choices.is_causal = stack.take<bool>();
  choices.deterministic = stack.take<bool>();
  const Outputs outputs = take_outputs(stack);
  AtenTensorHandle const cu_seqlens_q_padded = stack.take_optional_tensor();
  AtenTensorHandle const cu_seqlens_k_padded = stack.take_optional_tensor();
  const auto max_seqlen_k_padded = stack.take<std::optional<int64_t>>();
  choices.workspace = stack.take<int64_t>();
  choices.stream = stack.take<std::optional<int64_t>>();

  Call call{stack.held(), viewed(inputs, outputs), std::nullopt, choices, 0};
  call.group = GroupArguments{TensorView(cu_seqlens_q),
                              TensorView(cu_seqlens_k),
                              viewed(cu_seqlens_q_padded),
                              viewed(cu_seqlens_k_padded),
                              max_seqlen_q,
                              max_seqlen_k,
                              max_seqlen_k_padded,
                              zero_tensors};
  call.batch = check_varlen(call.tensors, *call.group);
  return call;
}

}  // namespace hip_ext
