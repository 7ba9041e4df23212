#include "../ctest/check.h"
#include "distribution.h"

using namespace hip_ext_bench;

namespace {

TEST(a_quantile_lies_between_two_samples) {
  const std::vector<int64_t> samples = {40, 10, 30, 20, 50};
  CHECK(quantile(samples, 0) == 10);
  CHECK(quantile(samples, 0.5) == 30);
  CHECK(quantile(samples, 1) == 50);
  CHECK(quantile(samples, 0.875) == 45);
  CHECK(quantile({7}, 0.99) == 7);
  CHECK(quantile({}, 0.5) == 0);
}

TEST(the_mean_is_of_all_samples) {
  CHECK(mean({1, 2, 6}) == 3);
  CHECK(mean({}) == 0);
}

TEST(a_line_is_in_microseconds) {
  CHECK(distribution_line("x", {1500, 1500}).find("       1.5        1.5") != std::string::npos);
}

}  // namespace

CHECK_MAIN()
