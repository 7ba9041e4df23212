#include "tensor_view.h"

#include <torch/csrc/stable/stableivalue_conversions.h>

namespace hip_ext {

namespace {

size_t bytes_of(int32_t type) {
  const Types& known = types();
  if (type == known.byte) return 1;
  return type == known.half || type == known.bfloat16 ? 2 : 4;
}

}  // namespace

const Types& types() {
  static const Types known = {aoti_torch_dtype_float16(), aoti_torch_dtype_bfloat16(),
                              aoti_torch_dtype_float32(), aoti_torch_dtype_int32(),
                              aoti_torch_dtype_uint8()};
  return known;
}

std::string name_of_type(int32_t type) {
  using torch::headeronly::ScalarType;
  return toString(torch::stable::detail::to<ScalarType>(torch::stable::detail::from(type)));
}

void DeleteTensor::operator()(AtenTensorHandle tensor) const noexcept {
  aoti_torch_delete_tensor_object(tensor);
}

TensorView::TensorView(AtenTensorHandle tensor) {
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_data_ptr(tensor, &data_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(tensor, &sizes_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor, &strides_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(tensor, &dim_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor, &type_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor, &device_type_));
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor, &device_index_));
}

int64_t TensorView::numel() const {
  int64_t count = 1;
  for (int64_t i = 0; i < dim_; ++i) count *= sizes_[i];
  return count;
}

bool TensorView::has(const Shape& shape) const {
  bool same = dim_ == shape.dim();
  for (int i = 0; same && i < shape.dim(); ++i) same = sizes_[i] == shape[i];
  return same;
}

bool TensorView::on_device_of(const TensorView& other) const {
  return device_type_ == other.device_type_ && device_index_ == other.device_index_;
}

bool TensorView::is_contiguous() const {
  if (numel() == 0) return true;
  int64_t expected = 1;
  for (int64_t i = dim_ - 1; i >= 0; --i) {
    if (sizes_[i] != 1 && strides_[i] != expected) return false;
    expected *= sizes_[i];
  }
  return true;
}

size_t TensorView::span() const {
  if (numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t i = 0; i < dim_; ++i) last += (sizes_[i] - 1) * strides_[i];
  return size_t(last + 1) * bytes_of(type_);
}

Shape contiguous_strides(const Shape& sizes) {
  Shape strides{};
  for (int i = 0; i < sizes.dim(); ++i) {
    int64_t stride = 1;
    for (int j = i + 1; j < sizes.dim(); ++j) stride *= sizes[j];
    strides.push_back(stride);
  }
  return strides;
}

OwnedTensor empty(const Shape& sizes, const Shape& strides, int32_t type, const TensorView& like) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(sizes.dim(), sizes.begin(),
                                                         strides.begin(), type, like.device_type(),
                                                         like.device_index(), &made));
  return OwnedTensor(made);
}

OwnedTensor referenced(const OwnedTensor& tensor) {
  AtenTensorHandle made = nullptr;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(tensor.get(), &made));
  return OwnedTensor(made);
}

}  // namespace hip_ext
