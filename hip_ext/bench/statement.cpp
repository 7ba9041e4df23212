#include "statement.h"

#include <cmath>
#include <cstdio>
#include <sstream>

#include "distribution.h"

namespace hip_ext_bench {

using hip_ext_test::Layout;
using hip_ext_test::Sequence;
using hip_ext_test::Shape;

double flop(const Shape& shape) {
  double total = 0;
  for (const Sequence& s : shape.sequences) {
    const double pairs = double(s.queries) * s.keys;
    total += shape.nhead_q * pairs * (6.0 * shape.hdim_q + 4.0 * shape.hdim_v);
  }
  return total;
}

double moved_bytes(const Shape& shape) {
  constexpr double half = 2, single = 4;
  double total = 0;
  for (const Sequence& s : shape.sequences) {
    const double query_side =
        2.0 * (shape.hdim_q + shape.hdim_v) * half + single;             // q, dq, out, dout
    const double key_side = 2.0 * (shape.hdim_q + shape.hdim_v) * half;  // k, dk, v, dv
    total += shape.nhead_q * (s.queries * query_side + s.keys * key_side);
  }
  return total;
}

namespace {

std::string layout_name(const Shape& shape) {
  const auto name = [](Layout layout) { return layout == Layout::heads_first ? "bhsd" : "bshd"; };
  std::string text = name(shape.inputs);
  if (shape.inputs != shape.outputs) text += std::string("-") + name(shape.outputs);
  return text;
}

}  // namespace

std::string beginning(const Options& options) {
  const Shape& s = options.shape;
  std::ostringstream line;
  line << "[" << (s.dtype == hip_ext::DataType::bf16 ? "bf16" : "fp16") << "|"
       << (s.mode == hip_ext::SequenceMode::group ? "group" : "batch") << "|" << layout_name(s)
       << "] b:" << s.sequences.size() << ", h:" << s.nhead_q << "/" << s.nhead_k
       << ", s:" << options.rows_q << "/" << options.rows_k << ", d:" << s.hdim_q << "/" << s.hdim_v
       << ", scale:" << float(1 / std::sqrt(double(s.hdim_q)))
       << ", bias:n, dbias:0, p_drop:0, s_randval:0, deterministic:"
       << (s.accumulation == hip_ext::Accumulation::deterministic ? 1 : 0)
       << ", mask:" << options.mask;
  return line.str();
}

double milliseconds(const Options& options, const Samples& samples) {
  const char* name = options.timer == Timer::gpu ? "device_kernels" : "wall";
  return mean(samples.series.at(name)) / 1e6;
}

std::string speed(const Options& options, const Samples& samples) {
  if (options.prepare_only || options.loop > 0) return "";
  const double ms = milliseconds(options, samples);
  char text[96];
  std::snprintf(text, sizeof text, ", %.3f ms, %.2f TFlops, %.2f GB/s", ms,
                flop(options.shape) / 1e9 / ms, moved_bytes(options.shape) / 1e6 / ms);
  return text;
}

namespace {

struct Row {
  const char* series;
  const char* name;
};

constexpr Row kRows[] = {
    {"host_call", "host time in the call"},
    {"host_preparation", "host time in the preparation"},
    {"device_call", "device time of the call"},
    {"device_preparation", "device time of the preparation"},
    {"device_kernels", "device time of the kernels"},
    {"device_step", "device time of queue and preparation"},
    {"wall", "host time until all is done"},
    {"iteration", "an iteration back to back"},
};

std::string title(const Options& options, const Samples& samples) {
  std::string text = samples.mode == "none"
                         ? "none: two events in a row"
                         : "workspace " + samples.mode + ", pinned " + options.values.at("pinned");
  if (options.loop > 0 && samples.mode == "none") text = "none: the queue alone";
  return text + ", queue " + std::to_string(options.queue) + ", " + std::to_string(options.repeat) +
         " samples";
}

}  // namespace

std::string distributions(const Options& options, const Samples& samples) {
  std::string text = distribution_heading(title(options, samples));
  for (const Row& row : kRows) {
    const auto found = samples.series.find(row.series);
    if (found != samples.series.end()) text += distribution_line(row.name, found->second);
  }
  return text;
}

}  // namespace hip_ext_bench
