// Tile arithmetic of the CPU against plain loops.
#include <cmath>
#include <random>
#include <vector>

#include "../check.h"
#include "tile_math.h"

using namespace hip_ext;

namespace {

std::vector<float> random_values(size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(products_equal_a_plain_loop_in_both_orders_of_a) {
  const int rows = 24, columns = 48, depth = 40;
  const std::vector<float> a = random_values(rows * depth), b = random_values(depth * columns);
  for (const bool transposed : {false, true}) {
    for (const bool add : {false, true}) {
      std::vector<float> c(rows * columns, 1.0f);
      const int64_t a_row = transposed ? 1 : depth, a_depth = transposed ? rows : 1;
      tile_math().multiply({a.data(), a_row, a_depth, b.data(), columns, c.data(), columns, rows,
                            columns, depth, add});
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          double sum = add ? 1 : 0;
          for (int l = 0; l < depth; ++l) {
            sum += double(a[i * a_row + l * a_depth]) * b[l * columns + j];
          }
          CHECK(std::abs(sum - c[i * columns + j]) < 1e-4);
        }
      }
    }
  }
}

TEST(the_softmax_gradient_equals_its_formula_and_masks) {
  const int rows = 8, columns = 32;
  std::vector<float> scores = random_values(rows * columns), dp = random_values(rows * columns);
  scores[3] = -1000;  // p is 0 and not a wrapped exponent
  const std::vector<float> s = scores, g = dp;
  const std::vector<float> lse = {0, 1, 2, 3, -1, 0, 0, -INFINITY}, d = random_values(rows);
  const std::vector<int32_t> limit = {32, 31, 1, 0, -5, 16, 40, 0};
  const float scale = 0.3f;
  tile_math().softmax_gradient({scores.data(), dp.data(), columns, rows, columns, scale, lse.data(),
                                d.data(), limit.data()});
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int at = i * columns + j;
      const double p = j < limit[i] ? std::exp(double(scale) * s[at] - lse[i]) : 0;
      CHECK(std::abs(scores[at] - p) <= 1e-6 * p + 1e-37);
      CHECK(std::abs(dp[at] - scale * p * (g[at] - d[i])) <= 1e-5);
    }
  }
}

TEST(nan_scores_come_out_as_nan_and_masked_ones_as_zero) {
  std::vector<float> scores(8 * 16, NAN), dp(8 * 16, 1.0f), zeros(8, 0.0f);
  const std::vector<int32_t> limit(8, 9);
  tile_math().softmax_gradient(
      {scores.data(), dp.data(), 16, 8, 16, 1.0f, zeros.data(), zeros.data(), limit.data()});
  for (int at = 0; at < 8 * 16; ++at) {
    CHECK(std::isnan(scores[at]) == (at % 16 < 9));
    CHECK(at % 16 < 9 || (scores[at] == 0 && dp[at] == 0));
  }
}

}  // namespace

CHECK_MAIN()
