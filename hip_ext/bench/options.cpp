#include "options.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "arguments.h"
#include "product.h"

namespace hip_ext_bench {

using hip_ext::WorkspaceMode;
using hip_ext_test::Filling;
using hip_ext_test::Layout;
using hip_ext_test::Sequence;
using hip_ext_test::Shape;

namespace {

class Values {
 public:
  explicit Values(std::map<std::string, std::string> values) : values_(std::move(values)) {}

  const std::string& text(const std::string& name) const { return values_.at(name); }

  int integer(const std::string& name, int least, int most = 1 << 30) const {
    const std::string& value = text(name);
    char* end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || number < least || number > most) {
      throw UsageError("-" + name + "=" + value + ": expected a whole number from " +
                       std::to_string(least) + " to " + std::to_string(most));
    }
    return int(number);
  }

  bool flag(const std::string& name) const { return integer(name, 0, 1) == 1; }

  // -1 means "like the other".
  int or_like(const std::string& name, int other) const {
    const int value = integer(name, -1);
    if (value == 0) throw UsageError("-" + name + "=0: expected at least 1, or -1");
    return value == -1 ? other : value;
  }

  template <typename Choice>
  Choice choice(const std::string& name,
                const std::vector<std::pair<std::string, Choice>>& choices) const {
    std::string known;
    for (const auto& [label, value] : choices) {
      if (text(name) == label) return value;
      known += (known.empty() ? "" : ", ") + label;
    }
    throw UsageError("-" + name + "=" + text(name) + ": expected one of " + known);
  }

 private:
  std::map<std::string, std::string> values_;
};

hip_ext::DataType read_precision(const Values& values) {
  const std::string& name = values.text("prec");
  if (name == "bf16") return hip_ext::DataType::bf16;
  if (name == "fp16") return hip_ext::DataType::fp16;
  throw UsageError("-prec=" + name + ": expected fp16 or bf16", kBadPrecision);
}

int head_size(const std::string& name, int size) {
  if (size >= 8 && size <= 256 && size % 8 == 0) return size;
  throw UsageError("-" + name + "=" + std::to_string(size) +
                   ": head sizes are multiples of 8 from 8 to 256");
}

// Random lengths that add up to average * count; the same for the same seed and average.
std::vector<int> random_lengths(int count, int average, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> lengths(size_t(count), average);
  for (int& giver : lengths) {
    int& taker = lengths[random() % lengths.size()];
    const int rows = int(random() % uint32_t((giver + 1) / 2));
    giver -= rows;
    taker += rows;
  }
  return lengths;
}

std::vector<Sequence> sequences_of(const Shape& shape, int batch, int rows_q, int rows_k) {
  std::vector<Sequence> sequences(size_t(batch), Sequence{rows_q, rows_k});
  if (shape.mode == hip_ext::SequenceMode::batch) return sequences;
  const std::vector<int> queries = random_lengths(batch, rows_q, shape.seed);
  const std::vector<int> keys = random_lengths(batch, rows_k, shape.seed);
  for (size_t i = 0; i < sequences.size(); ++i) sequences[i] = {queries[i], keys[i]};
  return sequences;
}

enum class MaskKind { none, top_left, bottom_right };

// The kernels have the bottom-right mask; with as many keys as queries both are one.
std::string read_mask(const Values& values, Shape& shape) {
  const std::string& text = values.text("mask");
  if (text.find_first_of(":,") != std::string::npos && text != "t:-1,0" && text != "b:-1,0") {
    throw UsageError("-mask=" + text + ": sliding windows are not supported; use 0, 1 or 2");
  }
  const MaskKind kind = values.choice<MaskKind>("mask", {{"0", MaskKind::none},
                                                         {"n", MaskKind::none},
                                                         {"1", MaskKind::top_left},
                                                         {"t", MaskKind::top_left},
                                                         {"t:-1,0", MaskKind::top_left},
                                                         {"2", MaskKind::bottom_right},
                                                         {"b", MaskKind::bottom_right},
                                                         {"b:-1,0", MaskKind::bottom_right}});
  if (kind == MaskKind::none) return "n";
  shape.mask = hip_ext::Mask::causal;
  const auto square = [](const Sequence& s) { return s.queries == s.keys; };
  if (kind == MaskKind::bottom_right) return "b(-1:0)";
  if (std::all_of(shape.sequences.begin(), shape.sequences.end(), square)) return "t(-1:0)";
  throw UsageError("-mask=" + text +
                   ": a top-left mask needs s_k equal to s; use -mask=2, the bottom-right one");
}

Pinned read_pinned(const Values& values) {
  if (values.text("pinned") == "torch") {
    throw UsageError(
        "-pinned=torch: torch's host allocator is reached through Python only, by "
        "hip_ext.set_pinned_memory('torch') and python -m hip_ext.bench.measure; or use "
        "-pinned=pool here");
  }
  return values.choice<Pinned>("pinned", {{"bare", Pinned::bare}, {"pool", Pinned::pool}});
}

Shape read_shape(const Values& values) {
  Shape shape;
  shape.dtype = read_precision(values);
  shape.mode = values.flag("mode") ? hip_ext::SequenceMode::group : hip_ext::SequenceMode::batch;
  shape.accumulation = values.flag("deterministic") ? hip_ext::Accumulation::deterministic
                                                    : hip_ext::Accumulation::accumulate;
  shape.nhead_q = values.integer("h", 1);
  shape.nhead_k = values.or_like("h_k", shape.nhead_q);
  if (shape.nhead_q % shape.nhead_k != 0) {
    throw UsageError("-h=" + values.text("h") +
                     " must be a multiple of -h_k=" + values.text("h_k"));
  }
  shape.hdim_q = head_size("d", values.integer("d", 1));
  shape.hdim_v = head_size("d_v", values.or_like("d_v", shape.hdim_q));
  shape.inputs = values.flag("iperm") ? Layout::heads_first : Layout::rows_first;
  shape.outputs = values.flag("operm") ? Layout::heads_first : Layout::rows_first;
  shape.filling = values.choice<Filling>(
      "init", {{"0", Filling::integer}, {"1", Filling::uniform}, {"2", Filling::trigonometric}});
  const int seed = values.integer("seed", 0);
  shape.seed = seed == 0 ? std::random_device{}() : uint32_t(seed);
  return shape;
}

}  // namespace

Options read_options(const std::vector<std::string>& arguments) {
  Options options = {};
  options.values = parse_arguments(arguments);
  const Values values(options.values);
  options.shape = read_shape(values);
  options.rows_q = values.integer("s", 1);
  options.rows_k = values.or_like("s_k", options.rows_q);
  options.shape.sequences =
      sequences_of(options.shape, values.integer("b", 1), options.rows_q, options.rows_k);
  options.mask = read_mask(values, options.shape);

  options.validate = values.flag("v");
  options.kernel_names = values.flag("kname");
  options.timer = values.choice<Timer>("timer", {{"gpu", Timer::gpu}, {"cpu", Timer::cpu}});
  options.warmup = values.integer("warmup", 0);
  options.repeat = values.integer("repeat", 1);

  const WorkspaceMode sync = WorkspaceMode::sync, async = WorkspaceMode::async,
                      device = WorkspaceMode::device;
  options.modes = values.choice<std::vector<WorkspaceMode>>(
      "workspace",
      {{"sync", {sync}}, {"async", {async}}, {"device", {device}}, {"all", {sync, async, device}}});
  options.pinned = read_pinned(values);
  options.queue = values.integer("queue", 0);
  options.product = values.integer("product", 0, 1 << 15);
  if (options.product % kProductStep != 0) {
    throw UsageError("-product=" + values.text("product") + ": expected a multiple of " +
                     std::to_string(kProductStep));
  }
  options.idle_us = values.integer("idle_us", 0);
  options.prepare_only = values.flag("prepare_only");
  options.loop = values.integer("loop", 0);
  options.json = values.text("json");
  return options;
}

const char* name_of(WorkspaceMode mode) {
  switch (mode) {
    case WorkspaceMode::sync:
      return "sync";
    case WorkspaceMode::async:
      return "async";
    case WorkspaceMode::device:
      return "device";
  }
  return "?";
}

}  // namespace hip_ext_bench
