#include "tile_math.h"

#include <cstring>

namespace hip_ext {

namespace {

// Vector types of `Lanes` floats. The compiler splits them where the machine's vectors are
// narrower; the loads assume no alignment.
template <int Lanes>
struct Vector {
  typedef float Float __attribute__((vector_size(4 * Lanes)));
  typedef int32_t Int __attribute__((vector_size(4 * Lanes)));
  typedef float Loose __attribute__((vector_size(4 * Lanes), aligned(4), may_alias));
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

// `Rows` x (`Columns` vectors) of c stay in registers while l runs over the depth.
template <int Lanes, int Rows, int Columns>
ALWAYS_INLINE void multiply_block(const Product& p, int row, int column) {
  using Float = typename Vector<Lanes>::Float;
  using Loose = typename Vector<Lanes>::Loose;
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column;
  float* c = p.c + row * p.c_row + column;
  Float sum[Rows][Columns];
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Columns; ++j) {
      sum[i][j] = p.add ? Float(*reinterpret_cast<Loose*>(c + i * p.c_row + j * Lanes)) : Float{};
    }
  }
  for (int l = 0; l < p.depth; ++l) {
    Float right[Columns];
    for (int j = 0; j < Columns; ++j) {
      right[j] = *reinterpret_cast<const Loose*>(b + l * p.b_row + j * Lanes);
    }
    for (int i = 0; i < Rows; ++i) {
      const float left = a[i * p.a_row + l * p.a_depth];
      for (int j = 0; j < Columns; ++j) sum[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Columns; ++j) {
      *reinterpret_cast<Loose*>(c + i * p.c_row + j * Lanes) = sum[i][j];
    }
  }
}

template <int Lanes, int Rows>
ALWAYS_INLINE void multiply_with(const Product& p) {
  static_assert(kRowStep % Rows == 0 && kColumnStep % Lanes == 0, "blocks cover every tile");
  int column = 0;
  for (; column + 2 * Lanes <= p.columns; column += 2 * Lanes) {
    for (int row = 0; row < p.rows; row += Rows) multiply_block<Lanes, Rows, 2>(p, row, column);
  }
  for (; column < p.columns; column += Lanes) {
    for (int row = 0; row < p.rows; row += Rows) multiply_block<Lanes, Rows, 1>(p, row, column);
  }
}

// 2^x up to x = 126, 0 from -127 down, where subnormal numbers would begin. Relative error under
// 2e-7.
template <int Lanes>
ALWAYS_INLINE void exp2_in_place(typename Vector<Lanes>::Float& x) {
  using Float = typename Vector<Lanes>::Float;
  using Int = typename Vector<Lanes>::Int;
  const float round_to_integer = 12582912.0f;  // 1.5 * 2^23: the integer is left in the low bits
  // NaN fails both comparisons and stays. -127 gives the bits of 0.
  x = x > 126.0f ? Float{} + 126.0f : x;
  x = x < -127.0f ? Float{} - 127.0f : x;
  const Float shifted = x + round_to_integer;
  const Float f = x - (shifted - round_to_integer);
  Float value = Float{} + 1.5403530393381609e-4f;
  value = value * f + 1.3333558146428443e-3f;
  value = value * f + 9.6181291076284772e-3f;
  value = value * f + 5.5504108664821580e-2f;
  value = value * f + 2.4022650695910072e-1f;
  value = value * f + 6.9314718055994531e-1f;
  value = value * f + 1.0f;
  // A cast between vectors keeps the bits.
  const Int scaled = (Int)value + ((Int)shifted << 23);
  x = (Float)scaled;
}

template <int Lanes>
ALWAYS_INLINE void softmax_gradient_with(const SoftmaxGradient& g) {
  using Float = typename Vector<Lanes>::Float;
  using Int = typename Vector<Lanes>::Int;
  using Loose = typename Vector<Lanes>::Loose;
  const float log2_e = 1.4426950408889634f;
  Int lane;
  for (int i = 0; i < Lanes; ++i) lane[i] = i;
  for (int row = 0; row < g.rows; ++row) {
    const float lse = g.lse[row] * log2_e;
    for (int column = 0; column < g.columns; column += Lanes) {
      Loose& score = *reinterpret_cast<Loose*>(g.scores + row * g.row_stride + column);
      Loose& dp = *reinterpret_cast<Loose*>(g.dp + row * g.row_stride + column);
      Float p = score * (g.scale * log2_e) - lse;
      exp2_in_place<Lanes>(p);
      p = lane < g.limit[row] - column ? p : Float{};
      score = p;
      dp = p * (dp - g.d[row]) * g.scale;
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply_avx512(const Product& p) {
  multiply_with<16, 8>(p);
}
__attribute__((target("avx512f"))) void softmax_gradient_avx512(const SoftmaxGradient& g) {
  softmax_gradient_with<16>(g);
}
__attribute__((target("avx2,fma"))) void multiply_avx2(const Product& p) { multiply_with<8, 4>(p); }
__attribute__((target("avx2,fma"))) void softmax_gradient_avx2(const SoftmaxGradient& g) {
  softmax_gradient_with<8>(g);
}
#endif

void multiply_generic(const Product& p) { multiply_with<4, 4>(p); }
void softmax_gradient_generic(const SoftmaxGradient& g) { softmax_gradient_with<4>(g); }

// Asked at run time and not by target_clones: its resolvers run before the sanitizers are ready.
TileMath choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {multiply_avx512, softmax_gradient_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {multiply_avx2, softmax_gradient_avx2};
  }
#endif
  return {multiply_generic, softmax_gradient_generic};
}

}  // namespace

const TileMath& tile_math() {
  static const TileMath math = choose();
  return math;
}

}  // namespace hip_ext
