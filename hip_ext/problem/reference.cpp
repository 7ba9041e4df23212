#include "reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "half.h"

namespace hip_ext_test {

using hip_ext::Bf16;
using hip_ext::DataType;
using hip_ext::Fp16;

uint16_t round_to(DataType dtype, double value) {
  return dtype == DataType::bf16 ? Bf16::from_float(float(value)) : Fp16::from_float(float(value));
}

double value_of(DataType dtype, uint16_t bits) {
  return dtype == DataType::bf16 ? Bf16::to_float(bits) : Fp16::to_float(bits);
}

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(int rows, int columns) {
  return Matrix(size_t(rows), std::vector<double>(size_t(columns), 0.0));
}

Matrix rows_of(const Shape& shape, const std::vector<uint16_t>& tensor, int start, int rows,
               int heads, int head, int columns) {
  Matrix m = zeros(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int c = 0; c < columns; ++c) {
      m[i][c] = value_of(shape.dtype, tensor[(size_t(start + i) * heads + head) * columns + c]);
    }
  }
  return m;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Bottom-right causal: the last query sees every key.
bool sees(const Shape& shape, const Sequence& s, int query, int key) {
  return shape.mask == hip_ext::Mask::none || key <= query + s.keys - s.queries;
}

void add_scaled(std::vector<double>& target, double factor, const std::vector<double>& source) {
  for (size_t c = 0; c < target.size(); ++c) target[c] += factor * source[c];
}

// The heads are independent; each is worth a thread from a few million products on.
template <typename Work>
void for_each_head(const Shape& shape, const Sequence& s, Work work) {
  const double products = double(s.queries) * s.keys * (shape.hdim_q + shape.hdim_v);
  const int cores = products < 1 << 20 ? 1 : int(std::thread::hardware_concurrency());
  std::atomic<int> next{0};
  const auto take = [&] {
    for (int head = next++; head < shape.nhead_q; head = next++) work(head);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < std::min(cores, shape.nhead_q); ++i) threads.emplace_back(take);
  take();
  for (std::thread& thread : threads) thread.join();
}

void head_forward(const ReferenceView& view, const Sequence& s, int head,
                  std::vector<uint16_t>& out, std::vector<float>& lse) {
  const Shape& shape = view.shape;
  const double scale = float(1 / std::sqrt(double(shape.hdim_q)));
  const int head_k = head / (shape.nhead_q / shape.nhead_k);
  const Matrix q =
      rows_of(shape, view.q, view.q_start, s.queries, shape.nhead_q, head, shape.hdim_q);
  const Matrix k =
      rows_of(shape, view.k, view.k_start, s.keys, shape.nhead_k, head_k, shape.hdim_q);
  const Matrix v =
      rows_of(shape, view.v, view.k_start, s.keys, shape.nhead_k, head_k, shape.hdim_v);
  for (int i = 0; i < s.queries; ++i) {
    double sum = 0;
    std::vector<double> o(size_t(shape.hdim_v), 0.0);
    for (int j = 0; j < s.keys; ++j) {
      if (!sees(shape, s, i, j)) continue;
      const double weight = std::exp(scale * dot(q[i], k[j]));
      sum += weight;
      add_scaled(o, weight, v[j]);
    }
    const size_t row = size_t(view.q_start + i);
    lse[head * size_t(view.rows_q) + row] =
        sum > 0 ? float(std::log(sum)) : -std::numeric_limits<float>::infinity();
    for (int c = 0; c < shape.hdim_v; ++c) {
      out[(row * shape.nhead_q + head) * shape.hdim_v + c] =
          round_to(shape.dtype, sum > 0 ? o[c] / sum : 0.0);
    }
  }
}

struct HeadGradients {
  Matrix dq, dk, dv;
};

HeadGradients head_backward(const ReferenceView& view, const Sequence& s, bool rounded, int head) {
  const Shape& shape = view.shape;
  const double scale = float(1 / std::sqrt(double(shape.hdim_q)));
  const auto keep = [&](double x) {
    return rounded ? value_of(shape.dtype, round_to(shape.dtype, x)) : x;
  };
  const int head_k = head / (shape.nhead_q / shape.nhead_k);
  const Matrix q =
      rows_of(shape, view.q, view.q_start, s.queries, shape.nhead_q, head, shape.hdim_q);
  const Matrix k =
      rows_of(shape, view.k, view.k_start, s.keys, shape.nhead_k, head_k, shape.hdim_q);
  const Matrix v =
      rows_of(shape, view.v, view.k_start, s.keys, shape.nhead_k, head_k, shape.hdim_v);
  const Matrix o =
      rows_of(shape, view.out, view.q_start, s.queries, shape.nhead_q, head, shape.hdim_v);
  const Matrix go =
      rows_of(shape, view.dout, view.q_start, s.queries, shape.nhead_q, head, shape.hdim_v);
  HeadGradients g = {zeros(s.queries, shape.hdim_q), zeros(s.keys, shape.hdim_q),
                     zeros(s.keys, shape.hdim_v)};
  for (int i = 0; i < s.queries; ++i) {
    const double d = keep(dot(go[i], o[i]));
    const double lse = view.lse[head * size_t(view.rows_q) + view.q_start + i];
    for (int j = 0; j < s.keys; ++j) {
      if (!sees(shape, s, i, j)) continue;
      const double p = keep(std::exp(keep(scale * dot(q[i], k[j])) - lse));
      const double ds = keep(scale * p * (keep(dot(go[i], v[j])) - d));
      add_scaled(g.dv[j], p, go[i]);
      add_scaled(g.dk[j], ds, q[i]);
      add_scaled(g.dq[i], ds, k[j]);
    }
  }
  for (Matrix* m : {&g.dq, &g.dk, &g.dv}) {
    for (std::vector<double>& row : *m) {
      for (double& value : row) value = keep(value);
    }
  }
  return g;
}

void store(const Matrix& m, int start, int heads, int head, std::vector<double>& tensor) {
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t c = 0; c < m[i].size(); ++c) {
      tensor[((start + i) * heads + head) * m[i].size() + c] = m[i][c];
    }
  }
}

}  // namespace

void reference_forward(const ReferenceView& view, const Sequence& sequence,
                       std::vector<uint16_t>& out, std::vector<float>& lse) {
  for_each_head(view.shape, sequence,
                [&](int head) { head_forward(view, sequence, head, out, lse); });
}

void reference_backward(const ReferenceView& view, const Sequence& sequence, bool rounded,
                        Gradients& gradients) {
  const int heads = view.shape.nhead_q;
  for_each_head(view.shape, sequence, [&](int head) {
    const HeadGradients g = head_backward(view, sequence, rounded, head);
    store(g.dq, view.q_start, heads, head, gradients.dq);
    store(g.dk, view.k_start, heads, head, gradients.dk);
    store(g.dv, view.k_start, heads, head, gradients.dv);
  });
}

}  // namespace hip_ext_test
