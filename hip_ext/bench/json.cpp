#include "json.h"

#include <cstdio>

#include "statement.h"

namespace hip_ext_bench {

namespace {

#if defined(HIP_EXT_TARGET_HOST)
constexpr const char* kTarget = "host";
#elif defined(HIP_EXT_TARGET_CUDA)
constexpr const char* kTarget = "cuda";
#else
constexpr const char* kTarget = "hip";
#endif

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      result += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
      result += escaped;
    }
  }
  return result + "\"";
}

// "[a, b]" or "{a, b}" of what `write` makes of every item.
template <typename Items, typename Write>
std::string joined(char open, char close, const Items& items, Write write) {
  std::string text(1, open);
  for (const auto& item : items) text += (text.size() > 1 ? ", " : "") + write(item);
  return text + close;
}

std::string device_name() {
  int device = 0;
  hipDeviceProp_t properties;
  GPU_CHECK(hipGetDevice(&device));
  GPU_CHECK(hipGetDeviceProperties(&properties, device));
  return properties.name;
}

std::string mode_object(const Samples& samples, const Outcomes& outcomes) {
  const auto numbers = [](const auto& series) {
    return quoted(series.first + "_ns") + ": " +
           joined('[', ']', series.second, [](int64_t ns) { return std::to_string(ns); });
  };
  std::string text =
      quoted(samples.mode) + ": {\"samples\": " + joined('{', '}', samples.series, numbers);
  const auto outcome = outcomes.find(samples.mode);
  if (outcome != outcomes.end()) {
    const Outcome& of = outcome->second;
    text += std::string(", \"valid\": ") +
            (!of.validated ? "null"
             : of.valid()  ? "true"
                           : "false") +
            ", \"workspace_bytes\": " + std::to_string(of.workspace_bytes);
  }
  return text + "}";
}

}  // namespace

std::string to_json(const std::vector<std::string>& arguments, const Benchmark& benchmark,
                    const std::vector<Samples>& samples, const Outcomes& outcomes) {
  const Options& options = benchmark.options();
  const auto option = [](const auto& value) {
    return quoted(value.first) + ": " + quoted(value.second);
  };
  const auto lengths = [](const hip_ext_test::Sequence& s) {
    return "[" + std::to_string(s.queries) + ", " + std::to_string(s.keys) + "]";
  };
  return "{\"format\": \"hip_ext/benchmark_mha_bwd 1\",\n\"arguments\": " +
         joined('[', ']', arguments, quoted) + ",\n\"target\": " + quoted(kTarget) +
         ", \"device\": " + quoted(device_name()) + ", \"compiler\": " + quoted(__VERSION__) +
         ",\n\"options\": " + joined('{', '}', options.values, option) +
         ",\n\"lengths\": " + joined('[', ']', options.shape.sequences, lengths) +
         ",\n\"product\": " + std::to_string(benchmark.product()) +
         ", \"flop\": " + std::to_string(int64_t(flop(options.shape))) + ",\n\"modes\": " +
         joined('{', '}', samples,
                [&](const Samples& s) { return "\n" + mode_object(s, outcomes); }) +
         "}\n";
}

}  // namespace hip_ext_bench
