#include "outcome.h"

#include <algorithm>

#include "arguments.h"

namespace hip_ext_bench {

int exit_code(const Outcomes& outcomes) {
  const bool all = std::all_of(outcomes.begin(), outcomes.end(),
                               [](const auto& outcome) { return outcome.second.valid(); });
  return all ? kSuccess : kMismatch;
}

}  // namespace hip_ext_bench
