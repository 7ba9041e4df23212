// dq_dk_dv on a GPU: five products for every pair of a key tile and a query tile, in fp32.
//
// A block of 16 x 16 threads keeps a tile of keys in shared memory and walks over the queries; dk
// and dv stay in its registers. Nothing depends on the size of a wavefront.
#include <algorithm>
#include <limits>

#include "device.h"
#include "half.h"
#include "indexing.h"
#include "kernels.h"

namespace hip_ext {

namespace {

constexpr int kSide = 16;
constexpr int kThreads = kSide * kSide;
constexpr size_t kLdsOfEveryGpu = 65536;

// Tiles for head sizes up to `Columns`. 8 halves more a row put the same column of neighboring rows
// into different banks.
template <int Columns>
struct Tile {
  static constexpr int keys = Columns <= 128 ? 64 : 32;
  static constexpr int queries = Columns <= 64 ? 64 : (Columns <= 128 ? 32 : 16);
  static constexpr int row = Columns + 8;
  static constexpr int score_row = keys + 4;
  // Of one thread:
  static constexpr int own_keys = keys / kSide;
  static constexpr int own_queries = queries / kSide;
  static constexpr int own_fours = Columns / (4 * kSide);  // of columns
};

template <int Columns>
struct alignas(16) Lds {
  using T = Tile<Columns>;
  uint16_t k[T::keys * T::row];
  uint16_t v[T::keys * T::row];
  uint16_t q[T::queries * T::row];
  uint16_t dout[T::queries * T::row];
  float scores[T::queries * T::score_row];  // p, then ds
  float lse[T::queries];
  float d[T::queries];
};

// Whose dq a tile of keys adds to, and how.
enum class Store { set, add, add_atomically };

// The work of one block on one sequence and one query head.
template <typename Half, int Columns>
class TileBackward {
  using T = Tile<Columns>;
  using KeySums = float[T::own_keys][T::own_fours][4];

 public:
  __device__ TileBackward(const FmhaBwdParams& params, const WorkspaceView& workspace,
                          Lds<Columns>& lds, bool aligned)
      : parameters_(params),
        workspace_(workspace),
        lds_(lds),
        aligned_(aligned),
        x_(int(threadIdx.x) % kSide),
        y_(int(threadIdx.x) / kSide) {}

  __device__ void run(int32_t item, int32_t head, int32_t tile) {
    item_ = item;
    head_ = head;
    queries_ = query_rows(parameters(), item);
    keys_ = key_rows(parameters(), item);
    const int32_t splits = splits_of(workspace(), item);
    dq_acc_ = dq_acc_of(parameters(), workspace(), item, head, splits, queries_) +
              split_of_tile(parameters(), workspace(), item, head, tile) *
                  int64_t(queries_.physical) * parameters().hdim_q;
    const int32_t first = tile * workspace().k_tile;
    const int32_t end = min(first + workspace().k_tile, keys_.logical);
    for (int32_t key = first; key < end; key += T::keys) {
      run_keys(key, min(T::keys, end - key), store_of(key == first));
    }
  }

 private:
  __device__ const FmhaBwdParams& parameters() const { return read_here(parameters_); }
  __device__ const WorkspaceView& workspace() const { return read_here(workspace_); }

  // One block has a deterministic split to itself, and its threads their own elements of it.
  __device__ Store store_of(bool first_of_tile) const {
    if (workspace().per_item) return first_of_tile ? Store::set : Store::add;
    return parameters().accumulation == Accumulation::deterministic ? Store::add
                                                                    : Store::add_atomically;
  }

  __device__ void load(uint16_t* tile, int32_t tile_rows, const void* tensor,
                       const TensorStrides& stride, int32_t head, int64_t start, int32_t first,
                       int32_t rows, int32_t columns) const {
    const uint16_t* source = static_cast<const uint16_t*>(tensor) +
                             first_row(parameters(), stride, item_, head, start) +
                             first * stride.row;
    for (int32_t i = threadIdx.x; i < tile_rows * (Columns / 8); i += kThreads) {
      const int32_t row = i / (Columns / 8), column = i % (Columns / 8) * 8;
      Words<8> words = {};
      if (row < rows && column < columns) {
        words = read_words<8>(source + row * stride.row + column, aligned_);
      }
      *reinterpret_cast<Words<8>*>(tile + row * T::row + column) = words;
    }
  }

  // With a causal mask, the queries before this one see no key from `key` on.
  __device__ int32_t first_query_that_sees(int32_t key) const {
    if (parameters().mask == Mask::none) return 0;
    return max(0, key - (keys_.logical - queries_.logical));
  }

  __device__ void run_keys(int32_t first_key, int32_t keys, Store store) {
    const int32_t head_k = head_ / (parameters().nhead_q / parameters().nhead_k);
    __syncthreads();  // the tiles before are read no more
    load(lds_.k, T::keys, parameters().k, parameters().k_stride, head_k, keys_.start, first_key,
         keys, parameters().hdim_q);
    load(lds_.v, T::keys, parameters().v, parameters().v_stride, head_k, keys_.start, first_key,
         keys, parameters().hdim_v);
    KeySums dk = {}, dv = {};
    const int32_t start = first_query_that_sees(first_key) / T::queries * T::queries;
    for (int32_t first = start; first < queries_.logical; first += T::queries) {
      run_queries(first, first_key, keys, store, dk, dv);
    }
    store_keys(dk, parameters().dk, parameters().dk_stride, parameters().hdim_q, first_key, keys);
    store_keys(dv, parameters().dv, parameters().dv_stride, parameters().hdim_v, first_key, keys);
  }

  __device__ void load_queries(int32_t first, int32_t rows) {
    load(lds_.q, T::queries, parameters().q, parameters().q_stride, head_, queries_.start, first,
         rows, parameters().hdim_q);
    load(lds_.dout, T::queries, parameters().dout, parameters().dout_stride, head_, queries_.start,
         first, rows, parameters().hdim_v);
    const int32_t row = threadIdx.x;
    if (row >= T::queries) return;
    const int64_t lse_at =
        first_row(parameters(), parameters().lse_stride, item_, head_, queries_.start);
    const int64_t d_at =
        first_row(parameters(), parameters().softmax_d_stride, item_, head_, queries_.start);
    lds_.lse[row] = row < rows ? parameters().lse[lse_at + first + row] : 0.0f;
    lds_.d[row] = row < rows ? parameters().softmax_d[d_at + first + row] : 0.0f;
  }

  __device__ void run_queries(int32_t first, int32_t first_key, int32_t keys, Store store,
                              KeySums& dk, KeySums& dv) {
    const int32_t rows = min(T::queries, queries_.logical - first);
    load_queries(first, rows);
    __syncthreads();
    float p[T::own_queries][T::own_keys] = {}, ds[T::own_queries][T::own_keys] = {};
    multiply_rows(lds_.q, lds_.k, parameters().hdim_q, p);
    multiply_rows(lds_.dout, lds_.v, parameters().hdim_v, ds);
    softmax_gradient(first, rows, first_key, keys, p, ds);
    write_scores(p);
    __syncthreads();
    add_columns(lds_.dout, dv);
    __syncthreads();
    write_scores(ds);
    __syncthreads();
    add_columns(lds_.q, dk);
    add_dq(first, rows, store);
    __syncthreads();
  }

  // sum[i][j] += a[own query i] . b[own key j]
  __device__ void multiply_rows(const uint16_t* a, const uint16_t* b, int32_t depth,
                                float (&sum)[T::own_queries][T::own_keys]) const {
    a += y_ * T::own_queries * T::row;
    b += x_ * T::row;
    for (int32_t c = 0; c < depth; c += 8) {
      float left[T::own_queries][8];
#pragma unroll
      for (int i = 0; i < T::own_queries; ++i) read_halves(a + i * T::row + c, left[i]);
#pragma unroll
      for (int j = 0; j < T::own_keys; ++j) {
        float right[8];
        read_halves(b + j * kSide * T::row + c, right);
#pragma unroll
        for (int i = 0; i < T::own_queries; ++i) {
#pragma unroll
          for (int e = 0; e < 8; ++e) sum[i][j] += left[i][e] * right[e];
        }
      }
    }
  }

  template <int Halves>
  __device__ static void read_halves(const uint16_t* source, float (&values)[Halves]) {
    unpack<Half>(*reinterpret_cast<const Words<Halves>*>(source), values);
  }

  template <int Count>
  __device__ static void read_floats(const float* source, float (&values)[Count]) {
    struct alignas(4 * Count) Floats {
      float value[Count];
    };
    const Floats floats = *reinterpret_cast<const Floats*>(source);
#pragma unroll
    for (int i = 0; i < Count; ++i) values[i] = floats.value[i];
  }

  // Scores become p, dp becomes ds; both are 0 where the mask or the end of a sequence hides them.
  __device__ void softmax_gradient(int32_t first, int32_t rows, int32_t first_key, int32_t keys,
                                   float (&p)[T::own_queries][T::own_keys],
                                   float (&ds)[T::own_queries][T::own_keys]) const {
    const float log2_e = 1.4426950408889634f;
    const bool causal = parameters().mask != Mask::none;
    const float scale = parameters().scale;
#pragma unroll
    for (int i = 0; i < T::own_queries; ++i) {
      const int32_t row = y_ * T::own_queries + i;
      const int32_t seen =
          !causal ? keys
                  : min(keys, first + row + keys_.logical - queries_.logical + 1 - first_key);
      const int32_t limit = row < rows ? seen : 0;
      const float lse = lds_.lse[row] * log2_e, d = lds_.d[row];
#pragma unroll
      for (int j = 0; j < T::own_keys; ++j) {
        const float value = exp2f(p[i][j] * (scale * log2_e) - lse);
        p[i][j] = x_ + j * kSide < limit ? value : 0.0f;
        ds[i][j] = p[i][j] * (ds[i][j] - d) * scale;
      }
    }
  }

  __device__ void write_scores(const float (&values)[T::own_queries][T::own_keys]) {
#pragma unroll
    for (int i = 0; i < T::own_queries; ++i) {
#pragma unroll
      for (int j = 0; j < T::own_keys; ++j) {
        lds_.scores[(y_ * T::own_queries + i) * T::score_row + x_ + j * kSide] = values[i][j];
      }
    }
  }

  // sum[j][c] += scores[i][own key j] * rows[i][own column c], over all queries i
  __device__ void add_columns(const uint16_t* rows, KeySums& sum) const {
    const float* scores = lds_.scores + y_ * T::own_keys;
    rows += x_ * 4;
#pragma unroll 4
    for (int i = 0; i < T::queries; ++i) {
      float left[T::own_keys];
      read_floats(scores + i * T::score_row, left);
#pragma unroll
      for (int f = 0; f < T::own_fours; ++f) {
        float right[4];
        read_halves(rows + i * T::row + f * 4 * kSide, right);
#pragma unroll
        for (int j = 0; j < T::own_keys; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[j][f][e] += left[j] * right[e];
        }
      }
    }
  }

  // sum[i][c] += left[i][j] * key[c]
  __device__ static void add_key(const uint16_t* key, int j, const float (&left)[T::own_queries][4],
                                 float (&sum)[T::own_queries][T::own_fours][4]) {
#pragma unroll
    for (int f = 0; f < T::own_fours; ++f) {
      float right[4];
      read_halves(key + f * 4 * kSide, right);
#pragma unroll
      for (int i = 0; i < T::own_queries; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[i][f][e] += left[i][j] * right[e];
      }
    }
  }

  // dq = ds k, into the split of this tile
  __device__ void add_dq(int32_t first, int32_t rows, Store store) {
    float sum[T::own_queries][T::own_fours][4] = {};
    const float* scores = lds_.scores + y_ * T::own_queries * T::score_row;
    const uint16_t* k = lds_.k + x_ * 4;
    // Unrolled all the way, clang reads ahead until it has no register left.
#pragma unroll 2
    for (int four = 0; four < T::keys; four += 4) {
      float left[T::own_queries][4];
#pragma unroll
      for (int i = 0; i < T::own_queries; ++i) {
        read_floats(scores + i * T::score_row + four, left[i]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) add_key(k + (four + j) * T::row, j, left, sum);
    }
    const int32_t columns = parameters().hdim_q;
#pragma unroll
    for (int i = 0; i < T::own_queries; ++i) {
      const int32_t row = y_ * T::own_queries + i;
#pragma unroll
      for (int f = 0; f < T::own_fours; ++f) {
        const int32_t column = x_ * 4 + f * 4 * kSide;
        if (row >= rows || column >= columns) continue;
        store_dq(dq_acc_ + int64_t(first + row) * columns + column, sum[i][f], store);
      }
    }
  }

  __device__ static void store_dq(float* target, const float (&values)[4], Store store) {
    Float4 four = {{values[0], values[1], values[2], values[3]}};
    if (store == Store::add_atomically) return add_atomically(target, four);
    Float4* memory = reinterpret_cast<Float4*>(target);
    if (store == Store::add) {
      const Float4 before = *memory;
#pragma unroll
      for (int e = 0; e < 4; ++e) four.value[e] += before.value[e];
    }
    *memory = four;
  }

  __device__ void store_keys(const KeySums& sum, void* tensor, const TensorStrides& stride,
                             int32_t columns, int32_t first_key, int32_t keys) const {
    uint16_t* target = static_cast<uint16_t*>(tensor) +
                       first_row(parameters(), stride, item_, head_, keys_.start) +
                       first_key * stride.row;
#pragma unroll
    for (int j = 0; j < T::own_keys; ++j) {
      const int32_t row = y_ * T::own_keys + j;
#pragma unroll
      for (int f = 0; f < T::own_fours; ++f) {
        const int32_t column = x_ * 4 + f * 4 * kSide;
        if (row >= keys || column >= columns) continue;
        write_words(target + row * stride.row + column, pack<Half>(sum[j][f]), aligned_);
      }
    }
  }

  const FmhaBwdParams& parameters_;
  const WorkspaceView& workspace_;
  Lds<Columns>& lds_;
  bool aligned_;
  int32_t x_, y_;
  int32_t item_ = 0, head_ = 0;
  SequenceRows queries_ = {}, keys_ = {};
  float* dq_acc_ = nullptr;
};

// Job: a tile of a head of a sequence. Blocks take `jobs_a_block` consecutive ones.
struct Jobs {
  int64_t all;
  int32_t tiles;  // of one head
  int32_t a_block;
  bool aligned;
};

template <typename Half, int Columns>
__global__ void __launch_bounds__(kThreads, 2)
    fmha_bwd_dq_dk_dv(FmhaBwdParams p, WorkspaceView workspace, Jobs jobs) {
  extern __shared__ __attribute__((aligned(16))) unsigned char lds_bytes[];
  if (splits_of(workspace, 0) < 0) return;  // the pack has failed
  TileBackward<Half, Columns> backward(p, workspace, *reinterpret_cast<Lds<Columns>*>(lds_bytes),
                                       jobs.aligned);
  const int64_t first = int64_t(blockIdx.x) * jobs.a_block;
  const int64_t end = first + jobs.a_block < jobs.all ? first + jobs.a_block : jobs.all;
  for (int64_t job = first; job < end; ++job) {
    const int64_t sequence_head = job / jobs.tiles;
    const int32_t heads = read_here(p).nhead_q;
    const int32_t item = int32_t(sequence_head / heads);
    const int32_t head = int32_t(sequence_head % heads);
    const int32_t keys = key_rows(read_here(p), item).logical;
    // More than one round only where max_seqlen_k was too small.
    for (int64_t tile = job % jobs.tiles; tile * workspace.k_tile < keys; tile += jobs.tiles) {
      backward.run(item, head, int32_t(tile));
    }
  }
}

bool in_sixteens(const void* tensor, const TensorStrides& stride) {
  return reinterpret_cast<uintptr_t>(tensor) % 16 == 0 && stride.batch % 8 == 0 &&
         stride.row % 8 == 0 && stride.head % 8 == 0;
}

bool all_in_sixteens(const FmhaBwdParams& p) {
  return in_sixteens(p.q, p.q_stride) && in_sixteens(p.k, p.k_stride) &&
         in_sixteens(p.v, p.v_stride) && in_sixteens(p.dout, p.dout_stride) &&
         in_sixteens(p.dk, p.dk_stride) && in_sixteens(p.dv, p.dv_stride);
}

Jobs jobs_of(const FmhaBwdParams& p, const WorkspaceView& workspace) {
  const bool batch = p.mode == SequenceMode::batch;
  const int32_t longest = std::max(batch ? p.seqlen_k : p.max_seqlen_k, 1);
  Jobs jobs = {};
  jobs.tiles = int32_t(ceil_div(longest, workspace.k_tile));
  jobs.all = int64_t(jobs.tiles) * p.nhead_q * p.batch;
  // One block a split, which adds its tiles up in their order.
  const bool persistent = batch && p.accumulation == Accumulation::deterministic;
  jobs.a_block = persistent ? workspace.tiles_per_split : 1;
  jobs.aligned = all_in_sixteens(p);
  if (ceil_div(jobs.all, jobs.a_block) > std::numeric_limits<int32_t>::max()) {
    throw std::invalid_argument("fmha_bwd: more than 2^31 tiles of keys");
  }
  return jobs;
}

template <typename Half, int Columns>
void launch(const FmhaBwdParams& params, const WorkspaceView& workspace, hipStream_t stream) {
  static_assert(sizeof(Lds<Columns>) <= kLdsOfEveryGpu, "AMD's GPUs have no more");
  const Jobs jobs = jobs_of(params, workspace);
  const dim3 grid(uint32_t(ceil_div(jobs.all, jobs.a_block)));
  allow_lds<fmha_bwd_dq_dk_dv<Half, Columns>>(sizeof(Lds<Columns>));
  GPU_LAUNCH((fmha_bwd_dq_dk_dv<Half, Columns>), grid, dim3(kThreads), sizeof(Lds<Columns>), stream,
             params, workspace, jobs);
}

template <typename Half>
void launch_for(const FmhaBwdParams& params, const WorkspaceView& workspace, hipStream_t stream) {
  const int32_t columns = std::max(params.hdim_q, params.hdim_v);
  if (columns <= 64) return launch<Half, 64>(params, workspace, stream);
  if (columns <= 128) return launch<Half, 128>(params, workspace, stream);
  launch<Half, 256>(params, workspace, stream);
}

}  // namespace

void launch_dq_dk_dv(const FmhaBwdParams& params, const WorkspaceView& workspace,
                     hipStream_t stream) {
  if (params.dtype == DataType::bf16) return launch_for<Bf16>(params, workspace, stream);
  launch_for<Fp16>(params, workspace, stream);
}

}  // namespace hip_ext
