// Runs of decimal digits, eight at a time: the length of a run then costs no branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace overlap_native {

constexpr uint64_t kTens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/// How many of eight bytes, the first one lowest, are digits before one that is none.
inline unsigned leading_digits(uint64_t bytes) {
  const uint64_t values = bytes ^ 0x3030303030303030;  // 0 to 9 for digits
  const uint64_t large = values | ((values & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676);
  const uint64_t other = large & 0x8080808080808080;
  return other == 0 ? 8 : static_cast<unsigned>(__builtin_ctzll(other)) / 8;
}

/// The number that the first `count` of eight digits make; 0 of none.
inline uint64_t digits_value8(uint64_t bytes, unsigned count) {
  if (count == 0) return 0;
  uint64_t v = (bytes ^ 0x3030303030303030) << (64 - 8 * count);
  v = v * 10 + (v >> 8);
  const uint64_t mask = 0x000000ff000000ff;
  return (((v & mask) * 0x000f424000000064) + (((v >> 16) & mask) * 0x0000271000000001)) >> 32;
}

/// Append a run of digits to `value`; returns its length, of which more than 18 do not fit. Fifteen
/// bytes behind the run must be readable, however long it is.
inline size_t append_digits(const char* text, const char* end, uint64_t& value) {
  const char* at = text;
  unsigned count = 8;
  while (count == 8 && at < end) {
    uint64_t bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    count = leading_digits(bytes);
    value = value * kTens[count] + digits_value8(bytes, count);
    at += count;
  }
  return static_cast<size_t>(at - text);
}

}  // namespace overlap_native
