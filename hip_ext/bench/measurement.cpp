#include "measurement.h"

#include <chrono>
#include <thread>
#include <utility>

#include "hip_ext/pinned.h"

namespace hip_ext_bench {

using hip_ext::WorkspaceMode;

namespace {

hip_ext::Allocators allocators_for(hip_ext_test::Problem& problem, Pinned pinned) {
  hip_ext::Allocators allocators = problem.allocators();
  if (pinned == Pinned::bare) allocators.pinned_host_alloc = hip_ext::allocate_pinned;
  return allocators;
}

size_t matrix_bytes(const Options& options, int product) {
  return options.queue == 0 ? 0 : sizeof(float) * size_t(product) * size_t(product);
}

}  // namespace

Benchmark::Benchmark(const Options& options)
    : options_(options),
      product_(options.product == 0 ? kDefaultProduct : options.product),
      problem_(options.shape),
      allocators_(allocators_for(problem_, options.pinned)),
      factors_(matrix_bytes(options, product_)),
      products_(matrix_bytes(options, product_)) {
  factors_.fill(0);
}

void Benchmark::enqueue_products() {
  float* factors = static_cast<float*>(factors_.get());
  for (int i = 0; i < options_.queue; ++i) {
    launch_product(factors, factors, static_cast<float*>(products_.get()), product_, stream_);
  }
}

void Benchmark::call(WorkspaceMode mode, std::function<bool()> prepared) {
  hip_ext::LaunchOptions options;
  options.workspace = mode;
  options.prepared = std::move(prepared);
  workspace_bytes_[mode] =
      fmha_bwd(problem_.params(), options, allocators_, stream_).workspace_bytes;
}

// Nothing runs, nothing is queued, and no pinned block waits to be freed.
void Benchmark::settle() {
  GPU_CHECK(hipDeviceSynchronize());
  hip_ext::PinnedHostReleaser::instance().wait_until_empty();
  if (options_.idle_us > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(options_.idle_us));
  }
}

void Benchmark::sample_base(Samples& samples) {
  settle();
  queued_.record(stream_);
  enqueue_products();
  begin_.record(stream_);
  prepared_.record(stream_);
  GPU_CHECK(hipDeviceSynchronize());
  samples.series["device_preparation"].push_back(prepared_.since_ns(begin_));
  samples.series["device_step"].push_back(prepared_.since_ns(queued_));
}

void Benchmark::sample_call(WorkspaceMode mode, Samples& samples) {
  settle();
  queued_.record(stream_);
  enqueue_products();
  begin_.record(stream_);
  int64_t prepared_at = 0, recorded_at = 0;
  const auto prepared = [&] {
    prepared_at = now_ns();
    prepared_.record(stream_);
    recorded_at = now_ns();
    return !options_.prepare_only;
  };
  const int64_t start = now_ns();
  call(mode, prepared);
  const int64_t end = now_ns();
  end_.record(stream_);
  GPU_CHECK(hipDeviceSynchronize());
  const int64_t done = now_ns();

  auto& series = samples.series;
  series["host_call"].push_back(end - start - (recorded_at - prepared_at));
  series["host_preparation"].push_back(prepared_at - start);
  series["device_call"].push_back(end_.since_ns(begin_));
  series["device_preparation"].push_back(prepared_.since_ns(begin_));
  series["device_kernels"].push_back(end_.since_ns(prepared_));
  series["device_step"].push_back(prepared_.since_ns(queued_));
  series["wall"].push_back(done - start);
}

// Without a mode: the queue alone.
void Benchmark::sample_loop(const WorkspaceMode* mode, Samples& samples) {
  const auto prepared = [this] { return !options_.prepare_only; };
  settle();
  const int64_t start = now_ns();
  for (int i = 0; i < options_.loop; ++i) {
    enqueue_products();
    if (mode != nullptr) call(*mode, prepared);
  }
  GPU_CHECK(hipDeviceSynchronize());
  samples.series["iteration"].push_back((now_ns() - start) / options_.loop);
}

// Index 0 is the base, the modes follow.
void Benchmark::sample(size_t index, std::vector<Samples>& samples) {
  const WorkspaceMode* mode = index == 0 ? nullptr : &options_.modes[index - 1];
  if (options_.loop > 0) {
    sample_loop(mode, samples[index]);
  } else if (mode == nullptr) {
    sample_base(samples[index]);
  } else {
    sample_call(*mode, samples[index]);
  }
}

std::vector<Samples> Benchmark::measure() {
  std::vector<Samples> samples = {{"none", {}}};
  for (const WorkspaceMode mode : options_.modes) samples.push_back({name_of(mode), {}});
  std::vector<Samples> thrown_away = samples;
  // In turns, each time beginning with another, so that a slow second strikes every mode.
  for (int round = 0; round < options_.warmup + options_.repeat; ++round) {
    for (size_t i = 0; i < samples.size(); ++i) {
      const size_t index = (size_t(round) + i) % samples.size();
      sample(index, round < options_.warmup ? thrown_away : samples);
    }
  }
  hip_ext::check();
  return samples;
}

std::string Benchmark::judge(const hip_ext_test::Outputs& outputs) {
  if (references_ == nullptr) {
    references_ = std::make_unique<hip_ext_test::References>(problem_.references());
  }
  return problem_.compare(outputs, *references_);
}

std::string Benchmark::validate(WorkspaceMode mode) {
  problem_.poison_outputs();
  call(mode, {});
  GPU_CHECK(hipDeviceSynchronize());
  hip_ext::check();
  return judge(problem_.download());
}

}  // namespace hip_ext_bench
