// What one FMHA backward works on: plain values, passed by copy to every kernel.
#pragma once

#include <cstdint>
#include <type_traits>

namespace hip_ext {

enum class DataType : int32_t { fp16, bf16 };

// batch: every sequence has seqlen_q and seqlen_k rows; tensors [batch, seqlen, head, dim].
// group: sequences lie behind each other; tensors [total, head, dim], borders in seqstart.
enum class SequenceMode : int32_t { batch, group };

// none: every query sees every key. causal: bottom-right, query i sees keys up to
// i + seqlen_k - seqlen_q (logical lengths).
enum class Mask : int32_t { none, causal };

// accumulate: dq tiles are added into one fp32 buffer. deterministic: one buffer per split of the
// keys, added up in a fixed order.
enum class Accumulation : int32_t { accumulate, deterministic };

// Strides in elements; the last dimension is contiguous. `batch` is not used in group mode.
struct TensorStrides {
  int64_t batch;
  int64_t row;
  int64_t head;
};

// Strides in elements of the fp32 [head, row] tensors. `batch` is not used in group mode.
struct RowStatStrides {
  int64_t batch;
  int64_t head;
};

// All pointers are device memory. In group mode the batch is `batch` sequences.
struct FmhaBwdParams {
  const void* q;     // [*, nhead_q, hdim_q]
  const void* k;     // [*, nhead_k, hdim_q]
  const void* v;     // [*, nhead_k, hdim_v]
  const void* out;   // [*, nhead_q, hdim_v]
  const void* dout;  // [*, nhead_q, hdim_v]
  const float* lse;  // natural log of the softmax sum, scale included; -inf for a row without keys
  float* softmax_d;  // sum(dout * out) of every row: written by dot_do_o
  void* dq;          // [*, nhead_q, hdim_q]
  void* dk;          // [*, nhead_q, hdim_q]: one per query head, the caller adds the groups up
  void* dv;          // [*, nhead_q, hdim_v]: likewise

  TensorStrides q_stride;
  TensorStrides k_stride;
  TensorStrides v_stride;
  TensorStrides out_stride;
  TensorStrides dout_stride;
  TensorStrides dq_stride;
  TensorStrides dk_stride;
  TensorStrides dv_stride;
  RowStatStrides lse_stride;
  RowStatStrides softmax_d_stride;

  // Group mode; batch mode leaves all six null. seqstart_* are the physical borders (padding
  // included), int32, batch + 1 entries, starting with 0. Logical lengths, where they differ, come
  // from at most one of cu_seqlen_* (borders, batch + 1) and seqlen_*_ptr (lengths, batch), per
  // axis.
  const int32_t* seqstart_q;
  const int32_t* seqstart_k;
  const int32_t* cu_seqlen_q;
  const int32_t* cu_seqlen_k;
  const int32_t* seqlen_q_ptr;
  const int32_t* seqlen_k_ptr;

  int32_t batch;
  int32_t nhead_q;
  int32_t nhead_k;
  int32_t hdim_q;
  int32_t hdim_v;
  int32_t
      seqlen_q;  // batch mode: rows of a sequence. group mode: rows of the tensor (total, padded)
  int32_t seqlen_k;      // likewise
  int32_t max_seqlen_q;  // group mode: longest logical length; batch mode ignores it
  int32_t max_seqlen_k;  // likewise
  // Group mode: longest physical length of the keys, 0 if unknown. It bounds the workspace of the
  // deterministic async and device modes. Unknown with logical key lengths given, the bound falls
  // back to seqlen_k, as max_seqlen_k may then be too small; without them max_seqlen_k is physical.
  int32_t max_seqlen_k_padded;

  float scale;
  DataType dtype;
  SequenceMode mode;
  Mask mask;
  Accumulation accumulation;
};

static_assert(std::is_trivially_copyable<FmhaBwdParams>::value, "kernels take it by copy");

}  // namespace hip_ext
