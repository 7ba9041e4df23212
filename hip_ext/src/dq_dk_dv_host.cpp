// dq_dk_dv on the CPU: five small matrix products for every pair of a key tile and a query block.
#include <algorithm>
#include <vector>

#include "indexing.h"
#include "kernels.h"
#include "tensor_rows.h"
#include "tile_math.h"

namespace hip_ext {

namespace {

constexpr int kQueryBlock = 64;
constexpr int kThreadsPerBlock = 256;

// Rows of a tensor in fp32, padded with zeros to whole tile steps.
struct Matrix {
  std::vector<float> values;
  int64_t row_stride = 0;

  float* row(int64_t index) { return values.data() + index * row_stride; }
  const float* row(int64_t index) const { return values.data() + index * row_stride; }

  void clear(int64_t rows, int64_t columns) {
    row_stride = int64_t(round_up(size_t(columns), kColumnStep));
    values.assign(round_up(size_t(rows), kRowStep) * size_t(row_stride), 0.0f);
  }

  void load(const void* tensor, int64_t element, int64_t stride, DataType dtype, int32_t rows,
            int32_t columns) {
    clear(rows, columns);
    for (int32_t i = 0; i < rows; ++i) {
      load_row(tensor, element + i * stride, dtype, columns, row(i));
    }
  }

  void load_transposed(const Matrix& source, int32_t rows, int32_t columns) {
    clear(columns, rows);
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t c = 0; c < columns; ++c) row(c)[i] = source.row(i)[c];
    }
  }
};

// The work on one sequence and one query head.
class HeadBackward {
 public:
  HeadBackward(const FmhaBwdParams& params, const WorkspaceView& workspace)
      : p_(params), workspace_(workspace), math_(tile_math()) {
    scores_.clear(kQueryBlock, workspace.k_tile);
    dp_.clear(kQueryBlock, workspace.k_tile);
    dq_.clear(kQueryBlock, params.hdim_q);
  }

  void run(int32_t item, int32_t head) {
    item_ = item;
    head_ = head;
    queries_ = query_rows(p_, item);
    keys_ = key_rows(p_, item);
    if (keys_.logical == 0) return;
    load_queries();
    for (int32_t first = 0; first < keys_.logical; first += workspace_.k_tile) {
      run_tile(first, std::min(workspace_.k_tile, keys_.logical - first));
    }
  }

 private:
  void load_queries() {
    const int32_t rows = queries_.logical;
    q_.load(p_.q, first_row(p_, p_.q_stride, item_, head_, queries_.start), p_.q_stride.row,
            p_.dtype, rows, p_.hdim_q);
    dout_.load(p_.dout, first_row(p_, p_.dout_stride, item_, head_, queries_.start),
               p_.dout_stride.row, p_.dtype, rows, p_.hdim_v);
  }

  void load_keys(int32_t first, int32_t keys) {
    const int32_t head_k = head_ / (p_.nhead_q / p_.nhead_k);
    const int64_t k_at = first_row(p_, p_.k_stride, item_, head_k, keys_.start);
    const int64_t v_at = first_row(p_, p_.v_stride, item_, head_k, keys_.start);
    k_.load(p_.k, k_at + first * p_.k_stride.row, p_.k_stride.row, p_.dtype, keys, p_.hdim_q);
    v_.load(p_.v, v_at + first * p_.v_stride.row, p_.v_stride.row, p_.dtype, keys, p_.hdim_v);
    k_transposed_.load_transposed(k_, keys, p_.hdim_q);
    v_transposed_.load_transposed(v_, keys, p_.hdim_v);
    dk_.clear(keys, p_.hdim_q);
    dv_.clear(keys, p_.hdim_v);
  }

  // With a causal mask, the queries before this one see no key from `key` on.
  int32_t first_query_that_sees(int32_t key) const {
    if (p_.mask == Mask::none) return 0;
    return std::max(0, key - (keys_.logical - queries_.logical));
  }

  void run_tile(int32_t first_key, int32_t keys) {
    load_keys(first_key, keys);
    const int32_t tile = first_key / workspace_.k_tile;
    const int32_t splits = splits_of(workspace_, item_);
    float* dq_acc = dq_acc_of(p_, workspace_, item_, head_, splits, queries_);
    dq_acc +=
        split_of_tile(p_, workspace_, item_, head_, tile) * int64_t(queries_.physical) * p_.hdim_q;
    // Blocks that are masked whole are left out: their dq_acc has been cleared.
    const int32_t start = first_query_that_sees(first_key) / kQueryBlock * kQueryBlock;
    for (int32_t first = start; first < queries_.logical; first += kQueryBlock) {
      const int32_t rows = std::min(kQueryBlock, queries_.logical - first);
      run_block(first, rows, first_key, keys);
      add_dq(dq_acc + int64_t(first) * p_.hdim_q, rows);
    }
    store_keys(first_key, keys);
  }

  void run_block(int32_t first_query, int32_t queries, int32_t first_key, int32_t keys) {
    const int rows = int(round_up(size_t(queries), kRowStep));
    const int columns = int(k_transposed_.row_stride);
    const int key_rows = int(round_up(size_t(keys), kRowStep));
    const float* q = q_.row(first_query);
    const float* dout = dout_.row(first_query);
    const int64_t ld = scores_.row_stride;
    multiply({q, q_.row_stride, 1, k_transposed_.row(0), columns, scores_.row(0), ld, rows, columns,
              p_.hdim_q, false});
    multiply({dout, dout_.row_stride, 1, v_transposed_.row(0), columns, dp_.row(0), ld, rows,
              columns, p_.hdim_v, false});
    softmax_gradient(first_query, queries, first_key, keys, rows, columns);
    multiply({scores_.row(0), 1, ld, dout, dout_.row_stride, dv_.row(0), dv_.row_stride, key_rows,
              int(dout_.row_stride), rows, true});
    multiply({dp_.row(0), 1, ld, q, q_.row_stride, dk_.row(0), dk_.row_stride, key_rows,
              int(q_.row_stride), rows, true});
    multiply({dp_.row(0), ld, 1, k_.row(0), k_.row_stride, dq_.row(0), dq_.row_stride, rows,
              int(k_.row_stride), keys, false});
  }

  void multiply(const Product& product) const { math_.multiply(product); }

  void softmax_gradient(int32_t first_query, int32_t queries, int32_t first_key, int32_t keys,
                        int rows, int columns) {
    const float* lse = p_.lse + first_row(p_, p_.lse_stride, item_, head_, queries_.start);
    const float* d =
        p_.softmax_d + first_row(p_, p_.softmax_d_stride, item_, head_, queries_.start);
    for (int32_t row = 0; row < rows; ++row) {
      const int32_t query = first_query + row;
      const bool real = row < queries;
      const int32_t seen =
          p_.mask == Mask::none ? keys : query + keys_.logical - queries_.logical + 1 - first_key;
      lse_[row] = real ? lse[query] : 0;
      d_[row] = real ? d[query] : 0;
      limit_[row] = real ? std::min(seen, keys) : 0;
    }
    math_.softmax_gradient({scores_.row(0), dp_.row(0), scores_.row_stride, rows, columns, p_.scale,
                            lse_, d_, limit_});
  }

  void add_dq(float* dq_acc, int32_t rows) const {
    for (int32_t row = 0; row < rows; ++row) {
      const float* source = dq_.row(row);
      float* target = dq_acc + int64_t(row) * p_.hdim_q;
      if (workspace_.per_item) {
        std::copy_n(source, p_.hdim_q, target);
      } else {
        for (int32_t c = 0; c < p_.hdim_q; ++c) target[c] += source[c];
      }
    }
  }

  void store_keys(int32_t first, int32_t keys) {
    const int64_t dk_at = first_row(p_, p_.dk_stride, item_, head_, keys_.start);
    const int64_t dv_at = first_row(p_, p_.dv_stride, item_, head_, keys_.start);
    for (int32_t row = 0; row < keys; ++row) {
      store_row(dk_.row(row), p_.hdim_q, p_.dtype, p_.dk, dk_at + (first + row) * p_.dk_stride.row);
      store_row(dv_.row(row), p_.hdim_v, p_.dtype, p_.dv, dv_at + (first + row) * p_.dv_stride.row);
    }
  }

  const FmhaBwdParams& p_;
  const WorkspaceView& workspace_;
  const TileMath& math_;
  int32_t item_ = 0;
  int32_t head_ = 0;
  SequenceRows queries_ = {};
  SequenceRows keys_ = {};
  Matrix q_, dout_, k_, v_, k_transposed_, v_transposed_, dk_, dv_, scores_, dp_, dq_;
  float lse_[kQueryBlock];
  float d_[kQueryBlock];
  int32_t limit_[kQueryBlock];
};

void fmha_bwd_dq_dk_dv(const FmhaBwdParams& p, const WorkspaceView& workspace) {
  if (splits_of(workspace, 0) < 0) return;
  HeadBackward backward(p, workspace);
  for (int32_t item = 0; item < p.batch; ++item) {
    for (int32_t head = 0; head < p.nhead_q; ++head) backward.run(item, head);
  }
}

}  // namespace

void launch_dq_dk_dv(const FmhaBwdParams& params, const WorkspaceView& workspace,
                     hipStream_t stream) {
  const int32_t longest =
      params.mode == SequenceMode::batch ? params.seqlen_k : params.max_seqlen_k;
  const dim3 grid(uint32_t(ceil_div(std::max(longest, 1), workspace.k_tile)),
                  uint32_t(params.nhead_q), uint32_t(params.batch));
  GPU_LAUNCH(fmha_bwd_dq_dk_dv, grid, dim3(kThreadsPerBlock), /*lds_bytes=*/0, stream, params,
             workspace);
}

}  // namespace hip_ext
