#include "filling.h"

#include <cmath>

namespace hip_ext_test {

float ValueSource::next() {
  switch (filling_) {
    case Filling::normal:
      return normal_(random_);
    case Filling::integer:
      return float(std::uniform_int_distribution<int>(-2, 2)(random_));
    case Filling::uniform:
      return std::uniform_real_distribution<float>(-1, 1)(random_);
    case Filling::trigonometric:
      return std::sin(float(position_++));
  }
  return 0;
}

}  // namespace hip_ext_test
