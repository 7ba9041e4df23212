// The raw samples as a file.
#pragma once

#include <string>
#include <vector>

#include "measurement.h"
#include "outcome.h"

namespace hip_ext_bench {

// One JSON object; docs/benchmarks/h200.md says what each key is.
std::string to_json(const std::vector<std::string>& arguments, const Benchmark& benchmark,
                    const std::vector<Samples>& samples, const Outcomes& outcomes);

}  // namespace hip_ext_bench
