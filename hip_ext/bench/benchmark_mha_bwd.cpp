// Times one FMHA backward by workspace mode. AITER's options, line and exit codes; below the line,
// what AITER's benchmark cannot show: the host's time, and the device's time in the preparation.
#include <cstdio>
#include <fstream>
#include <iostream>

#include "arguments.h"
#include "json.h"
#include "outcome.h"
#include "statement.h"

namespace hip_ext_bench {

namespace {

void print_kernel_names(const Options& options) {
  if (options.kernel_names) {
    std::cout << ", fmha_bwd_dot_do_o, fmha_bwd_dq_dk_dv, fmha_bwd_convert_dq";
  }
}

void print_beginning(const Options& options, size_t workspace_bytes) {
  std::cout << beginning(options);
  if (options.shape.accumulation == hip_ext::Accumulation::deterministic) {
    std::cout << "\nDeterministic mode ON: " << (workspace_bytes >> 20)
              << " MByte memory workspace allocated\n";
  }
  print_kernel_names(options);
}

// The lines of one mode.
Outcome report(Benchmark& benchmark, hip_ext::WorkspaceMode mode, const Samples& samples) {
  const Options& options = benchmark.options();
  Outcome outcome = {"", options.validate, 0};
  if (options.validate) outcome.wrong = benchmark.validate(mode);
  outcome.workspace_bytes = benchmark.workspace_bytes(mode);
  print_beginning(options, outcome.workspace_bytes);
  std::cout << speed(options, samples);
  if (options.validate) std::cout << ", valid:" << (outcome.valid() ? "y" : "n");
  std::cout << "\n" << distributions(options, samples) << std::flush;
  if (!outcome.valid()) std::cerr << "workspace " << samples.mode << ": " << outcome.wrong << "\n";
  return outcome;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw UsageError("-json=" + path + ": the file cannot be written");
}

int run(const std::vector<std::string>& arguments) {
  const Options options = read_options(arguments);
  if (!options.json.empty()) write_file(options.json, "");  // before minutes are spent
  Benchmark benchmark(options);
  const std::vector<Samples> samples = benchmark.measure();
  Outcomes outcomes;
  for (size_t i = 0; i < options.modes.size(); ++i) {
    outcomes[samples[i + 1].mode] = report(benchmark, options.modes[i], samples[i + 1]);
  }
  std::cout << distributions(options, samples.front()) << std::flush;
  if (!options.json.empty()) {
    write_file(options.json, to_json(arguments, benchmark, samples, outcomes));
  }
  return exit_code(outcomes);
}

}  // namespace

int benchmark_main(const std::vector<std::string>& arguments) {
  try {
    if (wants_help(arguments)) {
      std::cout << help();
      return kSuccess;
    }
    return run(arguments);
  } catch (const UsageError& error) {
    std::cerr << "benchmark_mha_bwd: " << error.what() << "\n";
    return error.exit_code;
  } catch (const std::exception& error) {
    std::cerr << "benchmark_mha_bwd: " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace hip_ext_bench

int main(int count, char** arguments) {
  return hip_ext_bench::benchmark_main({arguments + 1, arguments + count});
}
