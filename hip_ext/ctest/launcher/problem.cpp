#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "half.h"
#include "hip_ext/pinned.h"
#include "reference.h"

namespace hip_ext_test {

using hip_ext::DataType;
using hip_ext::FmhaBwdParams;
using hip_ext::SequenceMode;

namespace {

constexpr int kPoison = 0xff;  // NaN as fp32, bf16 and fp16
constexpr uint16_t kPoisonHalf = 0xffff;

}  // namespace

std::string describe(const Shape& s) {
  std::string text = s.dtype == DataType::bf16 ? "bf16" : "fp16";
  text += s.mode == SequenceMode::group ? " group" : " batch";
  text += s.mask == hip_ext::Mask::causal ? " causal" : "";
  text += s.accumulation == hip_ext::Accumulation::deterministic ? " det" : "";
  text += " h" + std::to_string(s.nhead_q) + "/" + std::to_string(s.nhead_k);
  text += " d" + std::to_string(s.hdim_q) + "/" + std::to_string(s.hdim_v);
  for (const Sequence& q : s.sequences) {
    text += " " + std::to_string(q.queries) + "+" + std::to_string(q.query_padding) + "x" +
            std::to_string(q.keys) + "+" + std::to_string(q.key_padding);
  }
  return text;
}

DeviceBuffer::DeviceBuffer(size_t bytes) : bytes_(bytes) {
  GPU_CHECK(hipMalloc(&pointer_, std::max<size_t>(bytes, 1)));
}

DeviceBuffer::~DeviceBuffer() { GPU_CHECK_NOEXCEPT(hipFree(pointer_)); }

void DeviceBuffer::fill(int byte) {
  if (bytes_ == 0) return;
  GPU_CHECK(hipMemset(pointer_, byte, bytes_));
  GPU_CHECK(hipStreamSynchronize(nullptr));  // a non-blocking stream would not wait for it
}

void DeviceBuffer::upload(const void* source, size_t bytes) {
  if (bytes > 0) GPU_CHECK(hipMemcpy(pointer_, source, bytes, hipMemcpyHostToDevice));
}

void DeviceBuffer::read(void* target) const {
  if (bytes_ > 0) GPU_CHECK(hipMemcpy(target, pointer_, bytes_, hipMemcpyDeviceToHost));
}

bool Outputs::operator==(const Outputs& other) const {
  const auto same_bits = [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  return dq == other.dq && dk == other.dk && dv == other.dv &&  // softmax_d has NaN: the poison
         std::equal(softmax_d.begin(), softmax_d.end(), other.softmax_d.begin(),
                    other.softmax_d.end(), same_bits);
}

Problem::Problem(const Shape& shape) : shape_(shape) {
  fill_borders();
  create_inputs();
  forward();
  for (const char* name : {"dq", "dk", "dv"}) {
    const int rows = name[1] == 'q' ? rows_q_ : rows_k_;
    const int columns = name[1] == 'v' ? shape_.hdim_v : shape_.hdim_q;
    buffers_[name] = std::make_unique<DeviceBuffer>(size_t(2) * rows * shape_.nhead_q * columns);
  }
  buffers_["softmax_d"] = std::make_unique<DeviceBuffer>(size_t(4) * rows_q_ * shape_.nhead_q);
  poison_outputs();
}

void Problem::fill_borders() {
  seqstart_q_ = seqstart_k_ = cu_q_ = cu_k_ = {0};
  length_q_.clear();
  length_k_.clear();
  for (const Sequence& s : shape_.sequences) {
    seqstart_q_.push_back(seqstart_q_.back() + s.queries + s.query_padding);
    seqstart_k_.push_back(seqstart_k_.back() + s.keys + s.key_padding);
    cu_q_.push_back(cu_q_.back() + s.queries);
    cu_k_.push_back(cu_k_.back() + s.keys);
    length_q_.push_back(s.queries);
    length_k_.push_back(s.keys);
  }
  rows_q_ = std::max(rows_q_, int(seqstart_q_.back()));
  rows_k_ = std::max(rows_k_, int(seqstart_k_.back()));
  upload("seqstart_q", seqstart_q_.data(), 4 * seqstart_q_.size());
  upload("seqstart_k", seqstart_k_.data(), 4 * seqstart_k_.size());
  upload("cu_q", cu_q_.data(), 4 * cu_q_.size());
  upload("cu_k", cu_k_.data(), 4 * cu_k_.size());
  upload("length_q", length_q_.data(), 4 * length_q_.size());
  upload("length_k", length_k_.data(), 4 * length_k_.size());
}

void Problem::upload(const std::string& name, const void* source, size_t bytes) {
  std::unique_ptr<DeviceBuffer>& buffer = buffers_[name];
  if (buffer == nullptr) buffer = std::make_unique<DeviceBuffer>(bytes);
  buffer->upload(source, bytes);
}

void Problem::create_inputs() {
  std::mt19937 random(11939);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<uint16_t>& tensor, int rows, int heads, int columns) {
    tensor.resize(size_t(rows) * heads * columns);
    for (uint16_t& value : tensor) value = round_to(shape_.dtype, normal(random));
  };
  fill(q_, rows_q_, shape_.nhead_q, shape_.hdim_q);
  fill(k_, rows_k_, shape_.nhead_k, shape_.hdim_q);
  fill(v_, rows_k_, shape_.nhead_k, shape_.hdim_v);
  fill(dout_, rows_q_, shape_.nhead_q, shape_.hdim_v);
}

// out and lse of the current sequences; every row that belongs to none of them is poison.
void Problem::forward() {
  out_.assign(dout_.size(), kPoisonHalf);
  lse_.assign(size_t(rows_q_) * shape_.nhead_q, std::numeric_limits<float>::quiet_NaN());
  std::vector<uint16_t> tensors[] = {q_, k_, v_, dout_};
  const auto poison = [](std::vector<uint16_t>& tensor, size_t row_elements, int from, int to) {
    std::fill(tensor.begin() + from * row_elements, tensor.begin() + to * row_elements,
              kPoisonHalf);
  };
  for (size_t i = 0; i < shape_.sequences.size(); ++i) {
    const ReferenceView view = {shape_,         q_,     k_, v_, out_, dout_, lse_, seqstart_q_[i],
                                seqstart_k_[i], rows_q_};
    reference_forward(view, shape_.sequences[i], out_, lse_);
    const int q_end = seqstart_q_[i] + shape_.sequences[i].queries;
    const int k_end = seqstart_k_[i] + shape_.sequences[i].keys;
    poison(tensors[0], size_t(shape_.nhead_q) * shape_.hdim_q, q_end, seqstart_q_[i + 1]);
    poison(tensors[1], size_t(shape_.nhead_k) * shape_.hdim_q, k_end, seqstart_k_[i + 1]);
    poison(tensors[2], size_t(shape_.nhead_k) * shape_.hdim_v, k_end, seqstart_k_[i + 1]);
    poison(tensors[3], size_t(shape_.nhead_q) * shape_.hdim_v, q_end, seqstart_q_[i + 1]);
  }
  const char* names[] = {"q", "k", "v", "dout"};
  for (int t = 0; t < 4; ++t) upload(names[t], tensors[t].data(), 2 * tensors[t].size());
  upload("out", out_.data(), 2 * out_.size());
  upload("lse", lse_.data(), 4 * lse_.size());
}

void Problem::set_sequences(const std::vector<Sequence>& sequences) {
  shape_.sequences = sequences;
  fill_borders();
  forward();
}

FmhaBwdParams Problem::params() const {
  FmhaBwdParams p = {};
  const bool group = shape_.mode == SequenceMode::group;
  const auto pointer = [this](const char* name) { return buffers_.at(name)->get(); };
  const auto int_pointer = [&](const char* name) {
    return static_cast<const int32_t*>(pointer(name));
  };
  p.q = pointer("q"), p.k = pointer("k"), p.v = pointer("v");
  p.out = pointer("out"), p.dout = pointer("dout");
  p.dq = pointer("dq"), p.dk = pointer("dk"), p.dv = pointer("dv");
  p.lse = static_cast<const float*>(pointer("lse"));
  p.softmax_d = static_cast<float*>(pointer("softmax_d"));
  p.batch = int32_t(shape_.sequences.size());
  p.nhead_q = shape_.nhead_q, p.nhead_k = shape_.nhead_k;
  p.hdim_q = shape_.hdim_q, p.hdim_v = shape_.hdim_v;
  p.seqlen_q = group ? rows_q_ : rows_q_ / p.batch;
  p.seqlen_k = group ? rows_k_ : rows_k_ / p.batch;
  const auto strides = [](int rows, int heads, int columns) {
    return hip_ext::TensorStrides{int64_t(rows) * heads * columns, int64_t(heads) * columns,
                                  columns};
  };
  p.q_stride = p.dq_stride = strides(p.seqlen_q, p.nhead_q, p.hdim_q);
  p.out_stride = p.dout_stride = strides(p.seqlen_q, p.nhead_q, p.hdim_v);
  p.k_stride = strides(p.seqlen_k, p.nhead_k, p.hdim_q);
  p.v_stride = strides(p.seqlen_k, p.nhead_k, p.hdim_v);
  p.dk_stride = strides(p.seqlen_k, p.nhead_q, p.hdim_q);
  p.dv_stride = strides(p.seqlen_k, p.nhead_q, p.hdim_v);
  p.lse_stride = p.softmax_d_stride = {p.seqlen_q, rows_q_};  // [head][row of all sequences]
  p.scale = float(1 / std::sqrt(double(p.hdim_q)));
  p.dtype = shape_.dtype, p.mode = shape_.mode, p.mask = shape_.mask;
  p.accumulation = shape_.accumulation;
  if (!group) return p;
  p.seqstart_q = int_pointer("seqstart_q"), p.seqstart_k = int_pointer("seqstart_k");
  if (shape_.length_style == LengthStyle::cu_seqlen) {
    if (cu_q_ != seqstart_q_) p.cu_seqlen_q = int_pointer("cu_q");
    if (cu_k_ != seqstart_k_) p.cu_seqlen_k = int_pointer("cu_k");
  } else {
    p.seqlen_q_ptr = int_pointer("length_q"), p.seqlen_k_ptr = int_pointer("length_k");
  }
  p.max_seqlen_q = *std::max_element(length_q_.begin(), length_q_.end());
  p.max_seqlen_k = *std::max_element(length_k_.begin(), length_k_.end());
  return p;
}

hip_ext::Allocators Problem::allocators() {
  const auto workspace = [this](size_t bytes, bool) {
    if (workspace_ == nullptr || workspace_->bytes() < bytes) {
      workspace_ = std::make_unique<DeviceBuffer>(bytes);
      workspace_->fill(kPoison);
    }
    return workspace_->get();
  };
  const auto pinned = [](size_t bytes) { return hip_ext::PinnedPool::instance().allocate(bytes); };
  return {workspace, pinned};
}

void Problem::poison_outputs() {
  for (const char* name : {"dq", "dk", "dv", "softmax_d"}) buffers_[name]->fill(kPoison);
  if (workspace_ != nullptr) workspace_->fill(kPoison);
  GPU_CHECK(hipDeviceSynchronize());
}

Outputs Problem::run(hip_ext::WorkspaceMode mode, hipStream_t stream) {
  poison_outputs();
  hip_ext::LaunchOptions options;
  options.workspace = mode;
  fmha_bwd(params(), options, allocators(), stream);
  GPU_CHECK(hipStreamSynchronize(stream));
  hip_ext::check();
  return download();
}

Outputs Problem::download() const {
  return {device("dq").download<uint16_t>(), device("dk").download<uint16_t>(),
          device("dv").download<uint16_t>(), device("softmax_d").download<float>()};
}

Gradients Problem::reference(bool rounded) const {
  Gradients gradients;
  gradients.dq.resize(size_t(rows_q_) * shape_.nhead_q * shape_.hdim_q);
  gradients.dk.resize(size_t(rows_k_) * shape_.nhead_q * shape_.hdim_q);
  gradients.dv.resize(size_t(rows_k_) * shape_.nhead_q * shape_.hdim_v);
  for (size_t i = 0; i < shape_.sequences.size(); ++i) {
    const ReferenceView view = {shape_,         q_,     k_, v_, out_, dout_, lse_, seqstart_q_[i],
                                seqstart_k_[i], rows_q_};
    reference_backward(view, shape_.sequences[i], rounded, gradients);
  }
  return gradients;
}

namespace {

// The rows that belong to a sequence, padding left out.
std::vector<bool> real_rows(const std::vector<int32_t>& start, const std::vector<int32_t>& length,
                            int rows) {
  std::vector<bool> real(size_t(rows), false);
  for (size_t i = 0; i < length.size(); ++i) {
    std::fill_n(real.begin() + start[i], length[i], true);
  }
  return real;
}

std::string compare_tensor(const char* name, DataType dtype, const std::vector<uint16_t>& got,
                           const std::vector<double>& exact, const std::vector<double>& rounded,
                           const std::vector<bool>& real) {
  if (real.empty()) return "";
  const size_t row_elements = got.size() / real.size();
  double same_dtype = 0, error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!real[i / row_elements]) {
      if (got[i] != kPoisonHalf) return std::string(name) + ": a padding row was written";
      continue;
    }
    same_dtype = std::max(same_dtype, std::abs(rounded[i] - exact[i]));
    const double difference = std::abs(value_of(dtype, got[i]) - exact[i]);
    error = std::max(error, std::isnan(difference) ? HUGE_VAL : difference);
  }
  const double tolerance = std::max(10 * same_dtype, 0.01);
  if (error <= tolerance) return "";
  return std::string(name) + ": error " + std::to_string(error) + " > " + std::to_string(tolerance);
}

}  // namespace

std::string Problem::compare(const Outputs& outputs) const {
  const Gradients exact = reference(/*rounded=*/false);
  const Gradients rounded = reference(/*rounded=*/true);
  const std::vector<bool> queries = real_rows(seqstart_q_, length_q_, rows_q_);
  const std::vector<bool> keys = real_rows(seqstart_k_, length_k_, rows_k_);
  std::string wrong = compare_tensor("dq", shape_.dtype, outputs.dq, exact.dq, rounded.dq, queries);
  wrong += compare_tensor("dk", shape_.dtype, outputs.dk, exact.dk, rounded.dk, keys);
  wrong += compare_tensor("dv", shape_.dtype, outputs.dv, exact.dv, rounded.dv, keys);
  return wrong;
}

}  // namespace hip_ext_test
