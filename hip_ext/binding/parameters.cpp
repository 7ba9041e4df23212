#include "parameters.h"

#include "refusal.h"

namespace hip_ext {

namespace {

RowStatStrides row_strides_of(const TensorView& tensor) {
  const bool batch = tensor.dim() == 3;
  return {batch ? tensor.stride(0) : 0, tensor.stride(-2)};
}

const int32_t* borders_in(const TensorView& tensor) {
  return static_cast<const int32_t*>(tensor.data_ptr());
}

void add_memory(const BackwardTensors& t, FmhaBwdParams& p) {
  p.q = t.q.data_ptr();
  p.k = t.k.data_ptr();
  p.v = t.v.data_ptr();
  p.out = t.out.data_ptr();
  p.dout = t.dout.data_ptr();
  p.dq = t.dq.data_ptr();
  p.lse = static_cast<const float*>(t.softmax_lse.data_ptr());
  p.q_stride = strides_of(t.q);
  p.k_stride = strides_of(t.k);
  p.v_stride = strides_of(t.v);
  p.out_stride = strides_of(t.out);
  p.dout_stride = strides_of(t.dout);
  p.dq_stride = strides_of(t.dq);
  p.lse_stride = row_strides_of(t.softmax_lse);
}

void add_sizes(const BackwardTensors& t, FmhaBwdParams& p) {
  p.nhead_q = fitting("q", t.q.size(-2));
  p.nhead_k = fitting("k", t.k.size(-2));
  p.hdim_q = fitting("q", t.q.size(-1));
  p.hdim_v = fitting("v", t.v.size(-1));
  p.seqlen_q = fitting("q", t.q.size(-3));
  p.seqlen_k = fitting("k", t.k.size(-3));
}

void add_group(const GroupArguments& group, FmhaBwdParams& p) {
  p.mode = SequenceMode::group;
  p.max_seqlen_q = fitting("max_seqlen_q", group.max_seqlen_q);
  p.max_seqlen_k = fitting("max_seqlen_k", group.max_seqlen_k);
  p.max_seqlen_k_padded = fitting("max_seqlen_k_padded", group.max_seqlen_k_padded.value_or(0));
  p.seqstart_q = borders_in(group.cu_seqlens_q);
  p.seqstart_k = borders_in(group.cu_seqlens_k);
  if (group.cu_seqlens_q_padded) {
    p.cu_seqlen_q = p.seqstart_q;
    p.seqstart_q = borders_in(*group.cu_seqlens_q_padded);
  }
  if (group.cu_seqlens_k_padded) {
    p.cu_seqlen_k = p.seqstart_k;
    p.seqstart_k = borders_in(*group.cu_seqlens_k_padded);
  }
}

}  // namespace

TensorStrides strides_of(const TensorView& tensor) {
  const bool batch = tensor.dim() == 4;
  return {batch ? tensor.stride(0) : 0, tensor.stride(-3), tensor.stride(-2)};
}

FmhaBwdParams parameters_of(const Call& call, const TensorView& expanded_dk,
                            const TensorView& expanded_dv, const TensorView& softmax_d) {
  const BackwardTensors& t = call.tensors;
  FmhaBwdParams p{};
  add_memory(t, p);
  add_sizes(t, p);
  p.dk = expanded_dk.data_ptr();
  p.dv = expanded_dv.data_ptr();
  p.dk_stride = strides_of(expanded_dk);
  p.dv_stride = strides_of(expanded_dv);
  p.softmax_d = static_cast<float*>(softmax_d.data_ptr());
  // In group mode every sequence of the batch shows the same rows.
  p.softmax_d_stride = {call.group ? 0 : softmax_d.stride(0), softmax_d.stride(-2)};
  p.batch = fitting(call.group ? "cu_seqlens_q" : "q", call.batch);
  p.scale = float(call.choices.softmax_scale);
  p.dtype = t.q.type() == types().bfloat16 ? DataType::bf16 : DataType::fp16;
  p.mask = call.choices.is_causal ? Mask::causal : Mask::none;
  p.accumulation =
      call.choices.deterministic ? Accumulation::deterministic : Accumulation::accumulate;
  if (call.group) add_group(*call.group, p);
  return p;
}

}  // namespace hip_ext
