#include "arguments.h"

#include <algorithm>

namespace hip_ext_bench {

namespace {

struct Known {
  const char* name;
  const char* value;
  const char* meaning;
};

// AITER's, with its defaults.
constexpr Known kShared[] = {
    {"v", "1", "1: validate against a float64 reference on the CPU"},
    {"mode", "0", "0: batch, 1: group, lengths random around the average"},
    {"b", "2", "sequences"},
    {"h", "8", "query heads"},
    {"h_k", "-1", "key heads; -1: as many as query heads"},
    {"s", "3328", "query rows of a sequence, in group mode on average"},
    {"s_k", "-1", "key rows likewise; -1: as many as query rows"},
    {"d", "128", "head size of q and k"},
    {"d_v", "-1", "head size of v; -1: that of q"},
    {"iperm", "1", "layout of q, k and v; 1: [b, h, s, d], 0: [b, s, h, d]"},
    {"operm", "1", "layout of out and its gradient, likewise"},
    {"prec", "fp16", "fp16 or bf16"},
    {"mask", "0", "0: none, 1 or t: causal top-left (needs s equal to s_k), 2 or b: bottom-right"},
    {"deterministic", "0", "1: a dq buffer per split of the keys, added up in order"},
    {"init", "1", "0: whole numbers, 1: uniform, 2: trigonometric"},
    {"seed", "11939", "of inputs and group lengths; 0: another one each time"},
    {"kname", "0", "1: print the kernels' names"},
    {"timer", "gpu",
     "of the ms on the first line; gpu: events around the kernels, cpu: whole call"},
    {"warmup", "10", "calls before the samples"},
    {"repeat", "10", "samples of each workspace mode"},
};

constexpr Known kAdded[] = {
    {"workspace", "async", "sync, async, device, or all three in turns"},
    {"pinned", "bare", "bare: hipHostMalloc and the deferred releaser, pool: reused blocks"},
    {"queue", "0", "products queued before every call, so that the stream is busy"},
    {"product", "0", "size of a queued product (n x n fp32); 0: the target's default"},
    {"idle_us", "0", "the host sleeps so long before every sample"},
    {"prepare_only", "0", "1: the preparation without the three kernels"},
    {"loop", "0",
     "N > 0: time N iterations of queue and call back to back instead of single calls"},
    {"json", "", "file for the raw samples"},
};

// Options of AITER's that are not built, each with the values it may have all the same.
struct Refused {
  const char* name;
  std::vector<std::string> accepted;
  const char* subject;
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> all = {
      {"scale", {"0"}, "another scale than 1/sqrt(d)"},
      {"bias", {"n", "0"}, "bias"},
      {"dbias", {"0"}, "the gradient of a bias"},
      {"p_drop", {"0"}, "dropout"},
      {"drop_seed", {"1"}, "dropout"},
      {"drop_offset", {"0"}, "dropout"},
      {"drop_prefs", {"0"}, "dropout"},
      {"bwd_v3", {"0"}, "the assembly path"},
      {"v3_atomic_fp32", {"1"}, "the assembly path"},
      {"v3_bf16_cvt", {"1"}, "the assembly path"},
      {"v3_api_check", {"0"}, "the assembly path"},
  };
  return all;
}

// Throws for an option that is not built; false if it is none of those.
bool is_left_alone(const std::string& name, const std::string& value) {
  for (const Refused& option : refused()) {
    if (name != option.name) continue;
    const auto& accepted = option.accepted;
    if (std::find(accepted.begin(), accepted.end(), value) != accepted.end()) return true;
    throw UsageError("-" + name + "=" + value + ": " + option.subject +
                     " is not supported; leave it at " + accepted.front());
  }
  return false;
}

template <typename Options>
std::string lines(const Options& options) {
  std::string text;
  for (const Known& option : options) {
    std::string left = "  -" + std::string(option.name) + "=" + option.value;
    left.resize(std::max<size_t>(left.size() + 1, 22), ' ');
    text += left + option.meaning + "\n";
  }
  return text;
}

}  // namespace

std::map<std::string, std::string> parse_arguments(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> values;
  for (const Known& option : kShared) values[option.name] = option.value;
  for (const Known& option : kAdded) values[option.name] = option.value;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (argument.size() < 2 || argument[0] != '-' || equals == std::string::npos) {
      throw UsageError("'" + argument + "' is not of the form -name=value; -? lists the options");
    }
    const std::string name = argument.substr(1, equals - 1);
    const std::string value = argument.substr(equals + 1);
    if (is_left_alone(name, value)) continue;
    if (values.count(name) == 0) {
      throw UsageError("there is no option -" + name + "; -? lists the options");
    }
    values[name] = value;
  }
  return values;
}

std::string help() {
  return "benchmark_mha_bwd -name=value ...: one FMHA backward, timed by workspace mode\n"
         "AITER's options and their defaults:\n" +
         lines(kShared) + "of this program alone:\n" + lines(kAdded);
}

bool wants_help(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "-?" || argument == "-h" || argument == "--help";
  });
}

}  // namespace hip_ext_bench
