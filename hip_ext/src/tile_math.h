// The arithmetic inside a tile of dq_dk_dv on the CPU, for the vector width of this machine.
#pragma once

#include <cstdint>

namespace hip_ext {

// Rows of every tile are a multiple of this, columns of the next.
constexpr int kRowStep = 8;
constexpr int kColumnStep = 16;

// c[i][j] = (add ? c[i][j] : 0) + sum over l of a[i * a_row + l * a_depth] * b[l * b_row + j]
struct Product {
  const float* a;
  int64_t a_row;
  int64_t a_depth;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  int rows;     // a multiple of kRowStep
  int columns;  // a multiple of kColumnStep
  int depth;
  bool add;
};

// In place: scores become p = exp(scale * score - lse), dp becomes ds = scale * p * (dp - d).
// Columns from limit[row] on are masked: p and ds are 0 there.
struct SoftmaxGradient {
  float* scores;
  float* dp;
  int64_t row_stride;
  int rows;
  int columns;  // a multiple of kColumnStep
  float scale;
  const float* lse;
  const float* d;
  const int32_t* limit;
};

struct TileMath {
  void (*multiply)(const Product&);
  void (*softmax_gradient)(const SoftmaxGradient&);
};

// Chosen once, from what the CPU can do.
const TileMath& tile_math();

}  // namespace hip_ext
