// The values of inputs.
#pragma once

#include <cstdint>
#include <random>

namespace hip_ext_test {

// Normal numbers, whole numbers from -2 to 2, uniform numbers from -1 to 1, or sines of the
// position.
enum class Filling { normal, integer, uniform, trigonometric };

// The same values again for the same seed; `trigonometric` needs none.
class ValueSource {
 public:
  ValueSource(Filling filling, uint32_t seed) : filling_(filling), random_(seed) {}
  float next();

 private:
  Filling filling_;
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
  uint32_t position_ = 0;
};

}  // namespace hip_ext_test
