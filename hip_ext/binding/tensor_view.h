// Tensors through torch's C interface: what one says of itself, asked once, and references to it.
//
// torch's own stable class holds each by a shared pointer and asks anew each time; twelve of them a
// call cost more than the launch does.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

namespace hip_ext {

// Sizes of at most six dimensions, without an allocation.
class Shape {
 public:
  Shape(std::initializer_list<int64_t> sizes) {
    for (const int64_t size : sizes) push_back(size);
  }

  // What does not fit is left out: no tensor of these ops has so many dimensions.
  void push_back(int64_t size) {
    if (dim_ < kMost) sizes_[dim_++] = size;
  }

  int dim() const { return dim_; }
  int64_t operator[](int i) const { return sizes_[i]; }
  const int64_t* begin() const { return sizes_; }
  const int64_t* end() const { return sizes_ + dim_; }

 private:
  static constexpr int kMost = 6;
  int64_t sizes_[kMost] = {};
  int dim_ = 0;
};

// The types that the ops know, by torch's own numbers. Any other has just its number.
struct Types {
  int32_t half, bfloat16, float32, int32, byte;
};

const Types& types();

// As torch names it in C++: Half, BFloat16, Float.
std::string name_of_type(int32_t type);

struct DeleteTensor {
  void operator()(AtenTensorHandle tensor) const noexcept;
};

// A reference to a tensor, which lives as long.
using OwnedTensor = std::unique_ptr<AtenTensorOpaque, DeleteTensor>;

// Holds no reference.
class TensorView {
 public:
  explicit TensorView(AtenTensorHandle tensor);

  void* data_ptr() const { return data_; }
  int64_t dim() const { return dim_; }
  int32_t type() const { return type_; }
  int32_t device_type() const { return device_type_; }
  int32_t device_index() const { return device_index_; }

  // Negative: from the last dimension, as in torch.
  int64_t size(int64_t i) const { return sizes_[i < 0 ? i + dim_ : i]; }
  int64_t stride(int64_t i) const { return strides_[i < 0 ? i + dim_ : i]; }

  const int64_t* begin() const { return sizes_; }  // of the sizes
  const int64_t* end() const { return sizes_ + dim_; }

  int64_t numel() const;
  bool has(const Shape& shape) const;
  bool on_device_of(const TensorView& other) const;
  bool is_contiguous() const;

  // Bytes from the first element to behind the last one. Only of the known types.
  size_t span() const;

 private:
  void* data_ = nullptr;
  int64_t* sizes_ = nullptr;
  int64_t* strides_ = nullptr;
  int64_t dim_ = 0;
  int32_t type_ = 0;
  int32_t device_type_ = 0;
  int32_t device_index_ = 0;
};

Shape contiguous_strides(const Shape& sizes);

// Uninitialized, on the device of `like`.
OwnedTensor empty(const Shape& sizes, const Shape& strides, int32_t type, const TensorView& like);

// Another reference to the same tensor.
OwnedTensor referenced(const OwnedTensor& tensor);

}  // namespace hip_ext
