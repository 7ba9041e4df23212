// Samples in a line of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hip_ext_bench {

// The value below which a share of the samples lies, from 0 to 1; between two samples on the
// straight line between them. 0 without samples.
double quantile(std::vector<int64_t> samples, double share);

double mean(const std::vector<int64_t>& samples);

// The heading of the lines below, and a line: median, p10, p90 and p99 in microseconds.
std::string distribution_heading(const std::string& title);
std::string distribution_line(const std::string& name, const std::vector<int64_t>& samples_ns);

}  // namespace hip_ext_bench
