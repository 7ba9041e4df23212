// Refuses an argument of an op: the sentence begins with its name. In Python it is a ValueError.
//
// Numbers go through to_string and not through a stream, whose locale breaks where a compiler has
// put a second C++ library into this one.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace hip_ext {

inline std::string text_of(const char* text) { return text; }
inline std::string text_of(const std::string& text) { return text; }
inline std::string text_of(int64_t number) { return std::to_string(number); }

template <typename... Parts>
[[noreturn]] void refuse(const char* argument, const Parts&... parts) {
  throw std::invalid_argument(((std::string(argument) + ": ") + ... + text_of(parts)));
}

// As Python writes a list.
template <typename Sizes>
std::string list_of(const Sizes& sizes) {
  std::string text = "[";
  const char* between = "";
  for (const int64_t size : sizes) text += std::exchange(between, ", ") + std::to_string(size);
  return text + ']';
}

inline int32_t fitting(const char* argument, int64_t value) {
  using Limits = std::numeric_limits<int32_t>;
  if (value >= Limits::min() && value <= Limits::max()) return int32_t(value);
  refuse(argument, value, " does not fit into 32 bits");
}

}  // namespace hip_ext
