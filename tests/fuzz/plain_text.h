// Characters and numbers read in the plainest way, for what the core does fast to be held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of the character at the front, 0 where it is none, `size + 1` where more might make it
/// one.
size_t plain_utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

/// Adds a code point as UTF-8, a lone surrogate in three bytes.
void add_code(std::string& to, uint32_t code);

/// As above; the second half of a pair is joined to a first one at the end of the text.
void add_half(std::string& to, uint32_t code);

/// A decimal number with or without fraction and exponent.
struct Decimal {
  bool negative = false;
  std::string whole, fraction;
  int exponent = 0;

  /// Times ten to the `power`, rounded half up; none where that does not fit.
  std::optional<int64_t> scaled(int power) const;
};

/// The number that the whole text is, with an exponent of at most three digits.
std::optional<Decimal> plain_decimal(std::string_view text);

}  // namespace fuzz
