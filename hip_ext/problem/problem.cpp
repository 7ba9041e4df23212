#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "hip_ext/pinned.h"
#include "reference.h"

namespace hip_ext_test {

using hip_ext::DataType;
using hip_ext::FmhaBwdParams;
using hip_ext::SequenceMode;

namespace {

constexpr int kPoison = 0xff;  // NaN as fp32, bf16 and fp16

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
  ValueSource values(shape_.filling, shape_.seed);
  const auto fill = [&](std::vector<uint16_t>& tensor, int rows, int heads, int columns) {
    tensor.resize(size_t(rows) * heads * columns);
    for (uint16_t& value : tensor) value = round_to(shape_.dtype, values.next());
  };
  fill(q_, rows_q_, shape_.nhead_q, shape_.hdim_q);
  fill(k_, rows_k_, shape_.nhead_k, shape_.hdim_q);
  fill(v_, rows_k_, shape_.nhead_k, shape_.hdim_v);
  fill(dout_, rows_q_, shape_.nhead_q, shape_.hdim_v);
}

TensorSizes Problem::sizes(int rows, int heads, int columns) const {
  const int batch = shape_.mode == SequenceMode::group ? 1 : int(shape_.sequences.size());
  return {batch, rows / batch, heads, columns};
}

namespace {

// An input as it goes to the device: rows that belong to no sequence are poison.
struct Input {
  const char* name;
  std::vector<uint16_t> values;
  const std::vector<int32_t>& starts;
  const std::vector<int32_t>& lengths;
  int heads;
  int columns;
  Layout layout;

  void poison_padding() {
    const size_t row_elements = size_t(heads) * columns;
    for (size_t i = 0; i < lengths.size(); ++i) {
      std::fill(values.begin() + (starts[i] + lengths[i]) * row_elements,
                values.begin() + starts[i + 1] * row_elements, kPoisonHalf);
    }
  }
};

}  // namespace

// out and lse of the current sequences; every row that belongs to none of them is poison.
void Problem::forward() {
  out_.assign(dout_.size(), kPoisonHalf);
  lse_.assign(size_t(rows_q_) * shape_.nhead_q, std::numeric_limits<float>::quiet_NaN());
  for (size_t i = 0; i < shape_.sequences.size(); ++i) {
    reference_forward(view(i), shape_.sequences[i], out_, lse_);
  }
  const Shape& s = shape_;
  Input inputs[] = {
      {"q", q_, seqstart_q_, length_q_, s.nhead_q, s.hdim_q, s.inputs},
      {"k", k_, seqstart_k_, length_k_, s.nhead_k, s.hdim_q, s.inputs},
      {"v", v_, seqstart_k_, length_k_, s.nhead_k, s.hdim_v, s.inputs},
      {"out", out_, seqstart_q_, length_q_, s.nhead_q, s.hdim_v, s.outputs},
      {"dout", dout_, seqstart_q_, length_q_, s.nhead_q, s.hdim_v, s.outputs},
  };
  for (Input& input : inputs) {
    input.poison_padding();
    const int rows = int(input.values.size() / (size_t(input.heads) * input.columns));
    const std::vector<uint16_t> laid_out = from_rows_first(
        std::move(input.values), sizes(rows, input.heads, input.columns), input.layout);
    upload(input.name, laid_out.data(), 2 * laid_out.size());
  }
  upload("lse", lse_.data(), 4 * lse_.size());
}

ReferenceView Problem::view(size_t sequence) const {
  return {shape_, q_, k_, v_, out_, dout_, lse_, seqstart_q_[sequence], seqstart_k_[sequence],
          rows_q_};
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
  const auto strides = [](int rows, int heads, int columns, Layout layout) {
    const int64_t sequence = int64_t(rows) * heads * columns;
    if (layout == Layout::heads_first) {
      return hip_ext::TensorStrides{sequence, columns, int64_t(rows) * columns};
    }
    return hip_ext::TensorStrides{sequence, int64_t(heads) * columns, columns};
  };
  p.q_stride = p.dq_stride = strides(p.seqlen_q, p.nhead_q, p.hdim_q, shape_.inputs);
  p.out_stride = p.dout_stride = strides(p.seqlen_q, p.nhead_q, p.hdim_v, shape_.outputs);
  p.k_stride = strides(p.seqlen_k, p.nhead_k, p.hdim_q, shape_.inputs);
  p.v_stride = strides(p.seqlen_k, p.nhead_k, p.hdim_v, shape_.inputs);
  p.dk_stride = strides(p.seqlen_k, p.nhead_q, p.hdim_q, shape_.inputs);
  p.dv_stride = strides(p.seqlen_k, p.nhead_q, p.hdim_v, shape_.inputs);
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
  const auto rows_first = [this](const char* name, int rows, int columns) {
    return to_rows_first(device(name).download<uint16_t>(), sizes(rows, shape_.nhead_q, columns),
                         shape_.inputs);
  };
  return {rows_first("dq", rows_q_, shape_.hdim_q), rows_first("dk", rows_k_, shape_.hdim_q),
          rows_first("dv", rows_k_, shape_.hdim_v), device("softmax_d").download<float>()};
}

namespace {

bool is_output(const std::string& name) {
  return name == "dq" || name == "dk" || name == "dv" || name == "softmax_d";
}

}  // namespace

Inputs Problem::download_inputs() const {
  Inputs inputs;
  for (const auto& [name, buffer] : buffers_) {
    if (!is_output(name)) inputs[name] = buffer->download<unsigned char>();
  }
  return inputs;
}

void Problem::upload_inputs(const Inputs& inputs) {
  for (const auto& [name, bytes] : inputs) upload(name, bytes.data(), bytes.size());
}

Gradients Problem::reference(bool rounded) const {
  Gradients gradients;
  gradients.dq.resize(size_t(rows_q_) * shape_.nhead_q * shape_.hdim_q);
  gradients.dk.resize(size_t(rows_k_) * shape_.nhead_q * shape_.hdim_q);
  gradients.dv.resize(size_t(rows_k_) * shape_.nhead_q * shape_.hdim_v);
  for (size_t i = 0; i < shape_.sequences.size(); ++i) {
    reference_backward(view(i), shape_.sequences[i], rounded, gradients);
  }
  return gradients;
}

References Problem::references() const {
  return {reference(/*rounded=*/false), reference(/*rounded=*/true)};
}

}  // namespace hip_ext_test
