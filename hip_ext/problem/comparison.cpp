// Outputs against the references.
#include <algorithm>
#include <cmath>

#include "problem.h"
#include "reference.h"

namespace hip_ext_test {

namespace {

// The rows that belong to a sequence, padding left out.
std::vector<bool> real_rows(const std::vector<int32_t>& start, const std::vector<int32_t>& length,
                            int rows) {
  std::vector<bool> real(size_t(rows), false);
  for (size_t i = 0; i < length.size(); ++i) {
    std::fill_n(real.begin() + start[i], length[i], true);
  }
  return real;
}

std::string compare_tensor(const char* name, hip_ext::DataType dtype,
                           const std::vector<uint16_t>& got, const std::vector<double>& exact,
                           const std::vector<double>& rounded, const std::vector<bool>& real) {
  if (real.empty()) return "";
  const size_t row_elements = got.size() / real.size();
  double same_dtype = 0, error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!real[i / row_elements]) {
      if (got[i] != kPoisonHalf) return std::string(name) + ": a padding row was written";
      continue;
    }
    same_dtype = std::max(same_dtype, std::abs(rounded[i] - exact[i]));
    const double difference = std::abs(value_of(dtype, got[i]) - exact[i]);
    error = std::max(error, std::isnan(difference) ? HUGE_VAL : difference);
  }
  const double tolerance = std::max(10 * same_dtype, 0.01);
  if (error <= tolerance) return "";
  return std::string(name) + ": error " + std::to_string(error) + " > " + std::to_string(tolerance);
}

}  // namespace

std::string Problem::compare(const Outputs& outputs, const References& references) const {
  const auto& [exact, rounded] = references;
  const std::vector<bool> queries = real_rows(seqstart_q_, length_q_, rows_q_);
  const std::vector<bool> keys = real_rows(seqstart_k_, length_k_, rows_k_);
  std::string wrong = compare_tensor("dq", shape_.dtype, outputs.dq, exact.dq, rounded.dq, queries);
  wrong += compare_tensor("dk", shape_.dtype, outputs.dk, exact.dk, rounded.dk, keys);
  wrong += compare_tensor("dv", shape_.dtype, outputs.dv, exact.dv, rounded.dv, keys);
  return wrong;
}

}  // namespace hip_ext_test
