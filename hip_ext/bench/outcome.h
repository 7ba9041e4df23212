// How the validation of a mode went, and what the program's exit code says of it.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace hip_ext_bench {

struct Outcome {
  std::string wrong;  // what the validation found; empty: nothing, or nobody looked
  bool validated;
  size_t workspace_bytes;

  bool valid() const { return wrong.empty(); }
};

// By mode.
using Outcomes = std::map<std::string, Outcome>;

// AITER's: 0, or -2 if any mode is wrong.
int exit_code(const Outcomes& outcomes);

}  // namespace hip_ext_bench
