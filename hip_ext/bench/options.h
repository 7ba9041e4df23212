// What to measure: the command line with its values checked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hip_ext/launcher.h"
#include "problem.h"

namespace hip_ext_bench {

enum class Pinned { bare, pool };
enum class Timer { gpu, cpu };

struct Options {
  std::map<std::string, std::string> values;  // as given, for the JSON

  hip_ext_test::Shape shape;
  int rows_q;  // of a sequence, on average
  int rows_k;
  std::string mask;  // as AITER prints it

  bool validate;
  bool kernel_names;
  Timer timer;
  int warmup;
  int repeat;

  std::vector<hip_ext::WorkspaceMode> modes;
  Pinned pinned;
  int queue;
  int product;
  int idle_us;
  bool prepare_only;
  int loop;
  std::string json;
};

// Throws UsageError.
Options read_options(const std::vector<std::string>& arguments);

const char* name_of(hip_ext::WorkspaceMode mode);

}  // namespace hip_ext_bench
