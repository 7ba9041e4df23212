#include "distribution.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace hip_ext_bench {

double quantile(std::vector<int64_t> samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double place = share * double(samples.size() - 1);
  const size_t below = size_t(place);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = place - double(below);
  return double(samples[below]) * (1 - weight) + double(samples[above]) * weight;
}

double mean(const std::vector<int64_t>& samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

std::string distribution_heading(const std::string& title) {
  char line[160];
  std::snprintf(line, sizeof line, "  %-58s %10s %10s %10s %10s\n", title.c_str(), "median", "p10",
                "p90", "p99");
  return line;
}

std::string distribution_line(const std::string& name, const std::vector<int64_t>& samples_ns) {
  char line[160];
  const auto at = [&](double share) { return quantile(samples_ns, share) / 1e3; };
  std::snprintf(line, sizeof line, "    %-53s us %10.1f %10.1f %10.1f %10.1f\n", name.c_str(),
                at(0.5), at(0.1), at(0.9), at(0.99));
  return line;
}

}  // namespace hip_ext_bench
