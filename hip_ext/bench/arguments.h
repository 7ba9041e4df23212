// The command line as AITER's benchmark writes it: -name=value.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace hip_ext_bench {

// Exit codes are AITER's, but for kFailed: a runtime call has failed.
constexpr int kSuccess = 0;
constexpr int kFailed = 1;
constexpr int kBadArguments = -1;
constexpr int kMismatch = -2;
constexpr int kBadPrecision = -3;

// What is wrong with the command line, in one sentence.
class UsageError : public std::runtime_error {
 public:
  UsageError(const std::string& message, int exit_code = kBadArguments)
      : std::runtime_error(message), exit_code(exit_code) {}

  int exit_code;
};

// Value by name, defaults filled in. Throws UsageError for names that are unknown, and for options
// of AITER's that are not at the one value this program has.
std::map<std::string, std::string> parse_arguments(const std::vector<std::string>& arguments);

// A line for every option.
std::string help();

// Whether the user asked for help.
bool wants_help(const std::vector<std::string>& arguments);

}  // namespace hip_ext_bench
