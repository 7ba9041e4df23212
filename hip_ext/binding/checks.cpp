#include "checks.h"

#include "refusal.h"

namespace hip_ext {

namespace {

struct Argument {
  const char* name;
  const TensorView& tensor;
};

Shape joined(Shape front, int64_t heads, int64_t columns) {
  front.push_back(heads);
  front.push_back(columns);
  return front;
}

// `like` is q: everything has to be where q is.
void check(const Argument& argument, const Argument& like, int32_t type, const Shape& shape) {
  const TensorView& tensor = argument.tensor;
  if (!tensor.on_device_of(like.tensor)) {
    refuse(argument.name, "is not on the device of ", like.name);
  }
  if (tensor.type() != type) {
    refuse(argument.name, "dtype ", name_of_type(tensor.type()), ", expected ", name_of_type(type));
  }
  if (!tensor.has(shape)) {
    refuse(argument.name, "shape ", list_of(tensor), ", expected ", list_of(shape));
  }
  if (tensor.dim() > 0 && tensor.size(-1) > 1 && tensor.stride(-1) != 1) {
    refuse(argument.name, "its last dimension must be contiguous (stride ", tensor.stride(-1),
           "); call .contiguous()");
  }
}

void check_dim(const Argument& argument, int64_t dim, const char* dimensions) {
  if (argument.tensor.dim() == dim) return;
  refuse(argument.name, "shape ", list_of(argument.tensor), ", expected ", dim, " dimensions ",
         dimensions);
}

// Results that share memory would overwrite each other, or what is still to be read. Tensors that
// only lie in the same range (slices of one packed dqkv) are fine, so the ranges say nothing.
void check_written(const BackwardTensors& t) {
  const Argument written[] = {{"dq", t.dq}, {"dk", t.dk}, {"dv", t.dv}};
  const Argument read[] = {{"q", t.q}, {"k", t.k}, {"v", t.v}, {"out", t.out}, {"dout", t.dout}};
  for (const Argument& one : written) {
    if (one.tensor.numel() == 0) continue;
    for (int64_t i = 0; i < one.tensor.dim(); ++i) {
      if (one.tensor.stride(i) == 0 && one.tensor.size(i) > 1) {
        refuse(one.name, "shows the same memory along dimension ", i, "; it cannot be written");
      }
    }
    const auto differs = [&one](const Argument& other) {
      if (&other == &one || other.tensor.data_ptr() != one.tensor.data_ptr()) return;
      refuse(one.name, "begins in memory where ", other.name, " does; give it its own");
    };
    for (const Argument& other : written) differs(other);
    for (const Argument& other : read) differs(other);
  }
}

void check_heads(const BackwardTensors& t) {
  const int64_t heads_q = t.q.size(-2), heads_k = t.k.size(-2);
  if (heads_k == 0 || heads_q % heads_k != 0) {
    refuse("k", heads_k, " heads do not divide the ", heads_q, " heads of q");
  }
  for (const Argument& argument : {Argument{"q", t.q}, Argument{"v", t.v}}) {
    const int64_t size = argument.tensor.size(-1);
    if (size >= 8 && size <= 256 && size % 8 == 0) continue;
    refuse(argument.name, "head size ", size, ", expected a multiple of 8 from 8 to 256");
  }
}

// The last two dimensions are heads and columns, those before lead to the rows.
void check_tensors(const BackwardTensors& t, const Shape& rows_q, const Shape& rows_k,
                   const Shape& stats) {
  const Argument q{"q", t.q};
  const int32_t type = t.q.type();
  if (type != types().half && type != types().bfloat16) {
    refuse("q", "dtype ", name_of_type(type), ", expected Half or BFloat16");
  }
  const int64_t heads_q = t.q.size(-2), heads_k = t.k.size(-2);
  const Shape of_q = joined(rows_q, heads_q, t.q.size(-1));
  const Shape of_k = joined(rows_k, heads_k, t.q.size(-1));
  const Shape of_v = joined(rows_k, heads_k, t.v.size(-1));
  const Shape of_out = joined(rows_q, heads_q, t.v.size(-1));
  check(q, q, type, of_q);
  check({"k", t.k}, q, type, of_k);
  check({"v", t.v}, q, type, of_v);
  check({"out", t.out}, q, type, of_out);
  check({"dout", t.dout}, q, type, of_out);
  check({"dq", t.dq}, q, type, of_q);
  check({"dk", t.dk}, q, type, of_k);
  check({"dv", t.dv}, q, type, of_v);
  check({"softmax_lse", t.softmax_lse}, q, types().float32, stats);
  check_written(t);
  check_heads(t);
}

void check_borders(const Argument& argument, const Argument& q, int64_t entries) {
  check(argument, q, types().int32, {entries});
}

}  // namespace

int64_t check_batch(const BackwardTensors& t) {
  check_dim({"q", t.q}, 4, "[batch, seqlen_q, heads, head size]");
  check_dim({"k", t.k}, 4, "[batch, seqlen_k, heads, head size]");
  check_dim({"v", t.v}, 4, "[batch, seqlen_k, heads, head size]");
  const int64_t batch = t.q.size(0), rows_q = t.q.size(1);
  if (batch == 0) refuse("q", "the batch must have at least one sequence");
  check_tensors(t, {batch, rows_q}, {batch, t.k.size(1)}, {batch, t.q.size(2), rows_q});
  return batch;
}

int64_t check_varlen(const BackwardTensors& t, const GroupArguments& group) {
  check_dim({"q", t.q}, 3, "[total_q, heads, head size]");
  check_dim({"k", t.k}, 3, "[total_k, heads, head size]");
  check_dim({"v", t.v}, 3, "[total_k, heads, head size]");
  const int64_t rows_q = t.q.size(0);
  check_tensors(t, {rows_q}, {t.k.size(0)}, {t.q.size(1), rows_q});

  const Argument like{"q", t.q};
  check_dim({"cu_seqlens_q", group.cu_seqlens_q}, 1, "[batch + 1]");
  const int64_t entries = group.cu_seqlens_q.size(0);
  if (entries < 2) refuse("cu_seqlens_q", "the batch must have at least one sequence");
  check_borders({"cu_seqlens_q", group.cu_seqlens_q}, like, entries);
  check_borders({"cu_seqlens_k", group.cu_seqlens_k}, like, entries);
  if (group.cu_seqlens_q_padded) {
    check_borders({"cu_seqlens_q_padded", *group.cu_seqlens_q_padded}, like, entries);
  }
  if (group.cu_seqlens_k_padded) {
    check_borders({"cu_seqlens_k_padded", *group.cu_seqlens_k_padded}, like, entries);
  }
  return entries - 1;
}

void check_contiguous(const BackwardTensors& t) {
  for (const Argument& result : {Argument{"dq", t.dq}, Argument{"dk", t.dk}, {"dv", t.dv}}) {
    if (result.tensor.is_contiguous()) continue;
    refuse(result.name, "must be contiguous with zero_tensors; call .contiguous()");
  }
}

}  // namespace hip_ext
