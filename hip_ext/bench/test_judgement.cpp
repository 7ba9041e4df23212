// A wrong result is seen, and ends in AITER's exit code.
#include "../ctest/check.h"
#include "arguments.h"
#include "measurement.h"
#include "outcome.h"
#include "statement.h"

using namespace hip_ext_bench;

namespace {

Options small(std::vector<std::string> more) {
  more.insert(more.end(),
              {"-b=2", "-h=4", "-h_k=2", "-d=32", "-s=40", "-prec=bf16", "-repeat=1", "-warmup=0"});
  return read_options(more);
}

TEST(a_wrong_gradient_is_seen_in_every_tensor) {
  Benchmark benchmark(small({"-mode=1", "-s_k=70", "-mask=2"}));
  const hip_ext_test::Outputs right = benchmark.problem().run(hip_ext::WorkspaceMode::async);
  CHECK(benchmark.judge(right).empty());
  for (auto tensor :
       {&hip_ext_test::Outputs::dq, &hip_ext_test::Outputs::dk, &hip_ext_test::Outputs::dv}) {
    hip_ext_test::Outputs wrong = right;
    (wrong.*tensor)[77] = 0x4000;  // 2
    CHECK(!benchmark.judge(wrong).empty());
  }
}

TEST(a_mismatch_ends_in_minus_two) {
  CHECK(exit_code({}) == kSuccess);
  CHECK(exit_code({{"sync", {"", true, 0}}, {"async", {"", false, 0}}}) == kSuccess);
  CHECK(exit_code({{"sync", {"", true, 0}}, {"async", {"dq: error 3", true, 0}}}) == kMismatch);
  CHECK(kMismatch == -2);
}

TEST(the_preparation_alone_writes_no_gradient) {
  Benchmark benchmark(small({"-mode=1"}));
  hip_ext_test::Problem& problem = benchmark.problem();
  for (const auto mode : {hip_ext::WorkspaceMode::sync, hip_ext::WorkspaceMode::async,
                          hip_ext::WorkspaceMode::device}) {
    problem.poison_outputs();
    int asked = 0;
    hip_ext::LaunchOptions options;
    options.workspace = mode;
    options.prepared = [&] { return ++asked > 1; };
    fmha_bwd(problem.params(), options, problem.allocators(), nullptr);
    GPU_CHECK(hipDeviceSynchronize());
    for (const uint16_t value : problem.download().dq) CHECK(value == hip_ext_test::kPoisonHalf);
    fmha_bwd(problem.params(), options, problem.allocators(), nullptr);
    GPU_CHECK(hipDeviceSynchronize());
    CHECK(asked == 2 && benchmark.judge(problem.download()).empty());
  }
}

// Layout, mode and filling by the same reference: a stride that is wrong gives wrong gradients.
TEST(every_layout_and_filling_is_right) {
  for (const char* mode : {"-mode=0", "-mode=1"}) {
    for (const char* iperm : {"-iperm=0", "-iperm=1"}) {
      for (const char* operm : {"-operm=0", "-operm=1"}) {
        for (const char* init : {"-init=0", "-init=1", "-init=2"}) {
          Benchmark benchmark(small({mode, iperm, operm, init, "-s_k=150", "-d_v=24"}));
          for (const auto workspace : {hip_ext::WorkspaceMode::sync, hip_ext::WorkspaceMode::async,
                                       hip_ext::WorkspaceMode::device}) {
            const std::string wrong = benchmark.validate(workspace);
            if (!wrong.empty())
              std::fprintf(stderr, "%s %s %s: %s\n", mode, iperm, init, wrong.c_str());
            CHECK(wrong.empty());
          }
        }
      }
    }
  }
}

// By hand: 4 query heads, two sequences of 40 x 40, head size 32.
TEST(flop_and_bytes_are_those_of_aiter) {
  const Options options = small({});
  CHECK(flop(options.shape) == 2.0 * 4 * 40 * 40 * (6 * 32 + 4 * 32));
  CHECK(moved_bytes(options.shape) == 2.0 * 4 * (8 * 40 * 32 * 2 + 40 * 4));
}

TEST(group_lengths_keep_the_average_and_follow_the_seed) {
  const auto lengths = [](const char* seed) {
    std::vector<int> queries;
    const Options options = read_options({"-mode=1", "-b=7", "-s=100", seed});
    for (const auto& s : options.shape.sequences) {
      CHECK(s.queries >= 1 && s.keys == s.queries);
      queries.push_back(s.queries);
    }
    return queries;
  };
  int total = 0;
  for (const int rows : lengths("-seed=5")) total += rows;
  CHECK(total == 700);
  CHECK(lengths("-seed=5") == lengths("-seed=5"));
  CHECK(lengths("-seed=5") != lengths("-seed=6"));
}

}  // namespace

CHECK_MAIN()
