// The samples of every workspace mode, taken in turns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "events.h"
#include "options.h"
#include "product.h"

namespace hip_ext_bench {

// One mode's samples in nanoseconds, by what was measured:
//   host_call           host time in fmha_bwd
//   host_preparation    of it, until the kernels are launched
//   device_call         device time between events around the call
//   device_preparation  between events around the preparation
//   device_kernels      between events around the three kernels (and the release behind them)
//   device_step         from before the queued products until the preparation is done
//   wall                host time from the call until everything is done
//   iteration           of a loop (-loop): host time of an iteration
// The mode "none" is the base: device_preparation of two events with nothing between them,
// device_step of the queue alone, iteration of the queue alone.
struct Samples {
  std::string mode;
  std::map<std::string, std::vector<int64_t>> series;
};

class Benchmark {
 public:
  explicit Benchmark(const Options& options);

  // Blocks the host until all samples of all modes, the base first, are taken.
  std::vector<Samples> measure();

  // Blocks the host: one fmha_bwd on poisoned memory. Empty if it agrees with the reference, else
  // what is wrong.
  std::string validate(hip_ext::WorkspaceMode mode);
  std::string judge(const hip_ext_test::Outputs& outputs);

  // Of the mode's latest call.
  size_t workspace_bytes(hip_ext::WorkspaceMode mode) const { return workspace_bytes_.at(mode); }
  const Options& options() const { return options_; }
  int product() const { return product_; }
  hip_ext_test::Problem& problem() { return problem_; }

 private:
  void enqueue_products();
  void call(hip_ext::WorkspaceMode mode, std::function<bool()> prepared);
  void sample_base(Samples& samples);
  void sample_call(hip_ext::WorkspaceMode mode, Samples& samples);
  void sample_loop(const hip_ext::WorkspaceMode* mode, Samples& samples);
  void sample(size_t index, std::vector<Samples>& samples);
  void settle();

  const Options options_;
  const int product_;
  hip_ext_test::Problem problem_;
  hip_ext::Allocators allocators_;
  hip_ext_test::DeviceBuffer factors_;
  hip_ext_test::DeviceBuffer products_;
  Event queued_, begin_, prepared_, end_;
  hipStream_t stream_ = nullptr;  // as AITER's
  std::map<hip_ext::WorkspaceMode, size_t> workspace_bytes_;
  std::unique_ptr<hip_ext_test::References> references_;
};

}  // namespace hip_ext_bench
