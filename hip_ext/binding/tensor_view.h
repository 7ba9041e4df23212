// What a tensor says of itself, asked once: every question to torch is a call through its stable
// ABI.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <initializer_list>

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

class TensorView {
 public:
  explicit TensorView(const torch::stable::Tensor& tensor)
      : tensor_(&tensor),
        data_(tensor.data_ptr()),
        sizes_(tensor.sizes().data()),
        strides_(tensor.strides().data()),
        dim_(tensor.dim()),
        dtype_(tensor.scalar_type()),
        device_(tensor.device()) {}

  const torch::stable::Tensor& tensor() const { return *tensor_; }
  void* data_ptr() const { return data_; }
  int64_t dim() const { return dim_; }
  torch::headeronly::ScalarType scalar_type() const { return dtype_; }
  const torch::stable::Device& device() const { return device_; }

  // Negative: from the last dimension, as in torch.
  int64_t size(int64_t i) const { return sizes_[i < 0 ? i + dim_ : i]; }
  int64_t stride(int64_t i) const { return strides_[i < 0 ? i + dim_ : i]; }

  int64_t numel() const {
    int64_t count = 1;
    for (int64_t i = 0; i < dim_; ++i) count *= sizes_[i];
    return count;
  }

  bool has(const Shape& shape) const {
    bool same = dim_ == shape.dim();
    for (int i = 0; same && i < shape.dim(); ++i) same = sizes_[i] == shape[i];
    return same;
  }

 private:
  const torch::stable::Tensor* tensor_;
  void* data_;
  const int64_t* sizes_;
  const int64_t* strides_;
  int64_t dim_;
  torch::headeronly::ScalarType dtype_;
  torch::stable::Device device_;
};

}  // namespace hip_ext
