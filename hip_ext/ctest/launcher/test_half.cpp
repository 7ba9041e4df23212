// Conversions of fp16 and bf16 on the host.
#include <cmath>

#include "../check.h"
#include "half.h"

using namespace hip_ext;

namespace {

TEST(every_fp16_value_survives_the_round_trip) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = Fp16::to_float(uint16_t(bits));
    const uint16_t back = Fp16::from_float(value);
    if (std::isnan(value)) {
      CHECK(std::isnan(Fp16::to_float(back)));
    } else {
      CHECK(back == bits);
    }
  }
  CHECK(Fp16::to_float(0x0001) == 0x1p-24f);
  CHECK(Fp16::to_float(0x3c00) == 1.0f);
  CHECK(Fp16::to_float(0x7bff) == 65504.0f);
}

TEST(fp16_rounds_to_nearest_even) {
  CHECK(Fp16::from_float(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(Fp16::from_float(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(Fp16::from_float(0x1p-25f) == 0x0000);
  CHECK(Fp16::from_float(3 * 0x1p-25f) == 0x0002);
  CHECK(Fp16::from_float(65519.0f) == 0x7bff);
  CHECK(Fp16::from_float(65520.0f) == 0x7c00);
  CHECK(Fp16::from_float(-1e10f) == 0xfc00);
}

TEST(bf16_rounds_to_nearest_even) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = Bf16::to_float(uint16_t(bits));
    if (!std::isnan(value)) CHECK(Bf16::from_float(value) == bits);
  }
  CHECK(Bf16::from_float(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(Bf16::from_float(1.0f + 3 * 0x1p-8f) == 0x3f82);
  CHECK(std::isnan(Bf16::to_float(Bf16::from_float(std::nanf("")))));
}

}  // namespace

CHECK_MAIN()
