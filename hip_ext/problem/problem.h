// A backward problem for tests and the benchmark: inputs, device memory, a run in one mode, and a
// float64 reference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "filling.h"
#include "hip_ext/launcher.h"
#include "layout.h"

namespace hip_ext_test {

// One sequence: logical lengths, and rows of padding behind them.
struct Sequence {
  int queries;
  int keys;
  int query_padding = 0;
  int key_padding = 0;
};

enum class LengthStyle { cu_seqlen, seqlen_ptr };

struct Shape {
  hip_ext::DataType dtype = hip_ext::DataType::bf16;
  hip_ext::SequenceMode mode = hip_ext::SequenceMode::group;
  hip_ext::Mask mask = hip_ext::Mask::none;
  hip_ext::Accumulation accumulation = hip_ext::Accumulation::deterministic;
  int nhead_q = 2;
  int nhead_k = 2;
  int hdim_q = 64;
  int hdim_v = 64;
  std::vector<Sequence> sequences = {{64, 64}};
  LengthStyle length_style = LengthStyle::cu_seqlen;
  Layout inputs = Layout::rows_first;   // q, k, v and their gradients
  Layout outputs = Layout::rows_first;  // out and dout
  Filling filling = Filling::normal;
  uint32_t seed = 11939;
};

std::string describe(const Shape& shape);

// What outputs, workspace and padding rows are filled with: NaN in each type.
constexpr uint16_t kPoisonHalf = 0xffff;

struct ReferenceView;

// Device memory of the runtime under test; freed at the end of the scope.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* get() const { return pointer_; }
  size_t bytes() const { return bytes_; }
  void fill(int byte);
  void upload(const void* source, size_t bytes);

  template <typename T>
  std::vector<T> download() const {
    std::vector<T> values(bytes_ / sizeof(T));
    read(values.data());
    return values;
  }

 private:
  void read(void* target) const;

  void* pointer_ = nullptr;
  size_t bytes_;
};

// The outputs by [row][head][column], poison included.
struct Outputs {
  std::vector<uint16_t> dq, dk, dv;
  std::vector<float> softmax_d;

  bool operator==(const Outputs& other) const;
};

// Every input as it lies on the device, by name.
using Inputs = std::map<std::string, std::vector<unsigned char>>;

// Gradients in float64 by [row][head][column] of the whole tensors; padding rows are 0.
struct Gradients {
  std::vector<double> dq, dk, dv;
};

// In float64, and with each intermediate rounded to the tensors' type.
struct References {
  Gradients exact, rounded;
};

class Problem {
 public:
  explicit Problem(const Shape& shape);

  const Shape& shape() const { return shape_; }
  hip_ext::FmhaBwdParams params() const;

  // An allocator that gives the poisoned workspace of this problem, grown when needed.
  hip_ext::Allocators allocators();
  void poison_outputs();

  // Poisons outputs and workspace, runs, waits, and reads back.
  Outputs run(hip_ext::WorkspaceMode mode, hipStream_t stream = nullptr);
  Outputs download() const;

  References references() const;

  // Empty, or what is wrong: an error beyond max(10 x that of the rounded reference, 0.01), or a
  // padding row that was written to.
  std::string compare(const Outputs& outputs, const References& references) const;
  std::string compare(const Outputs& outputs) const { return compare(outputs, references()); }

  // What set_sequences has put there, to put it there again without the work.
  Inputs download_inputs() const;
  void upload_inputs(const Inputs& inputs);

  // Replaces the borders on the device: same tensors, other sequences. Host side follows.
  void set_sequences(const std::vector<Sequence>& sequences);
  const std::vector<int32_t>& seqstart_q() const { return seqstart_q_; }
  const std::vector<int32_t>& seqstart_k() const { return seqstart_k_; }
  DeviceBuffer& device(const std::string& name) const { return *buffers_.at(name); }

 private:
  void fill_borders();
  void create_inputs();
  void forward();
  Gradients reference(bool rounded) const;
  ReferenceView view(size_t sequence) const;
  TensorSizes sizes(int rows, int heads, int columns) const;
  void upload(const std::string& name, const void* source, size_t bytes);

  Shape shape_;
  int rows_q_ = 0;
  int rows_k_ = 0;
  std::vector<int32_t> seqstart_q_, seqstart_k_, cu_q_, cu_k_, length_q_, length_k_;
  std::vector<uint16_t> q_, k_, v_, out_, dout_;
  std::vector<float> lse_;  // [head][row]
  std::map<std::string, std::unique_ptr<DeviceBuffer>> buffers_;
  std::unique_ptr<DeviceBuffer> workspace_;
};

}  // namespace hip_ext_test
