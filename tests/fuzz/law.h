// What every target shares: laws that end the run, and choices taken from the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fuzz {

/// Ends the process where a law does not hold; the fuzzer then keeps the input.
inline void require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "this must hold: %s\n", law);
  std::abort();
}

/// Bytes of the input, taken from the front; zeros where none are left.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto taken = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return taken;
  }
  uint32_t word() {
    const uint32_t low = byte();
    return low | static_cast<uint32_t>(byte()) << 8;
  }
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// Numbers that look random and follow from a seed.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t below(uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % bound;
  }

 private:
  uint64_t state_;
};

}  // namespace fuzz
