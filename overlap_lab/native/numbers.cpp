#include "numbers.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace overlap_native {

namespace {

constexpr ptrdiff_t kMaxText = 31;    // longer text is left to arbitrary precision
constexpr ptrdiff_t kMaxDigits = 18;  // fits an int64 whatever the digits are
constexpr ptrdiff_t kMaxWhole = 16;
constexpr int kNsDecimals = 3;  // of a microsecond
constexpr uint64_t kMaxExponent = 30;
constexpr auto kLargest = std::numeric_limits<int64_t>::max();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* digits_end(const char* text, const char* end) {
  while (text < end && is_digit(*text)) ++text;
  return text;
}

uint64_t digits_value(const char* text, const char* end, uint64_t value = 0) {
  for (; text < end; ++text) value = value * 10 + static_cast<uint64_t>(*text - '0');
  return value;
}

/// Digits and, behind a dot, more digits: the parts of a number that has any.
struct Digits {
  const char *whole, *whole_end, *fraction, *fraction_end;
};

Digits digits_of(const char* text, const char* end) {
  const char* whole_end = digits_end(text, end);
  const bool dot = whole_end < end && *whole_end == '.';
  const char* fraction = dot ? whole_end + 1 : whole_end;
  return {text, whole_end, fraction, digits_end(fraction, end)};
}

/// Without an exponent: the fourth decimal rounds, and those behind it never matter.
bool plain_nanoseconds(const Digits& d, bool negative, int64_t& value) {
  const ptrdiff_t decimals = d.fraction_end - d.fraction;
  // Epoch microseconds have 16 digits; as nanoseconds any 16 fit an unsigned number.
  if (d.whole_end - d.whole > kMaxWhole || (negative && decimals > kNsDecimals)) return false;
  uint64_t scaled = digits_value(d.whole, d.whole_end);
  for (ptrdiff_t i = 0; i < kNsDecimals; ++i) {
    scaled = scaled * 10 + static_cast<uint64_t>(i < decimals ? d.fraction[i] - '0' : 0);
  }
  if (decimals > kNsDecimals && d.fraction[kNsDecimals] >= '5') ++scaled;
  if (scaled > static_cast<uint64_t>(kLargest)) return false;
  value = negative ? -static_cast<int64_t>(scaled) : static_cast<int64_t>(scaled);
  return true;
}

bool exponent_of(const char* text, const char* end, int& exponent) {
  const bool negative = text < end && *text == '-';
  if (text < end && (*text == '-' || *text == '+')) ++text;
  if (text == end || end - text > 3 || digits_end(text, end) != end) return false;
  const uint64_t size = digits_value(text, end);
  if (size > kMaxExponent) return false;
  exponent = negative ? -static_cast<int>(size) : static_cast<int>(size);
  return true;
}

/// `digits` times ten to the `power`, rounded half up; false where that does not fit.
bool scaled_by(uint64_t digits, int power, int64_t& value) {
  __extension__ using Wide = unsigned __int128;
  Wide wide = digits;
  for (; power > 0; --power) {
    wide *= 10;
    if (wide > static_cast<Wide>(kLargest)) return false;
  }
  if (power < 0) {
    Wide unit = 1;
    for (int i = power; i < 0; ++i) unit *= 10;
    wide = (wide + unit / 2) / unit;
  }
  value = static_cast<int64_t>(wide);
  return true;
}

}  // namespace

const char* number_end(const char* text, const char* end, bool& integral) {
  integral = true;
  if (text < end && *text == '-') ++text;
  const char* digits = digits_end(text, end);
  if (digits == text) return nullptr;
  if (*text == '0') digits = text + 1;
  text = digits;
  if (end - text >= 2 && *text == '.' && is_digit(text[1])) {
    integral = false;
    text = digits_end(text + 1, end);
  }
  if (end - text >= 2 && (*text | 0x20) == 'e') {
    const char* power = text + 1;
    if (*power == '+' || *power == '-') ++power;
    digits = digits_end(power, end);
    if (digits > power) {
      integral = false;
      text = digits;
    }
  }
  return text;
}

bool unsigned_of(const char* text, const char* end, uint64_t& value) {
  constexpr ptrdiff_t kUnsignedDigits = 20;
  if (text == end || digits_end(text, end) != end || end - text > kUnsignedDigits) return false;
  if (*text == '0' && end - text > 1) return false;
  if (end - text < kUnsignedDigits) {
    value = digits_value(text, end);
    return true;
  }
  const uint64_t tens = digits_value(text, end - 1);
  const auto ones = static_cast<uint64_t>(end[-1] - '0');
  return !__builtin_mul_overflow(tens, uint64_t{10}, &value) &&
         !__builtin_add_overflow(value, ones, &value);
}

bool integer_of(const char* text, const char* end, int64_t& value) {
  const bool negative = text < end && *text == '-';
  uint64_t size = 0;
  if (!unsigned_of(text + (negative ? 1 : 0), end, size)) return false;
  if (size > static_cast<uint64_t>(kLargest) || (negative && size == 0)) return false;
  value = negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
  return true;
}

bool nanoseconds_of(uint64_t digits, int decimals, bool negative, int64_t& value) {
  constexpr uint64_t kPowers[] = {1, 10, 100, 1000};
  if (decimals > kNsDecimals) {
    uint64_t unit = 1;
    for (int i = kNsDecimals; i < decimals; ++i) unit *= 10;
    value = static_cast<int64_t>((digits + unit / 2) / unit);
    return !negative;
  }
  const uint64_t power = kPowers[kNsDecimals - decimals];
  if (digits > static_cast<uint64_t>(kLargest) / power) return false;
  value = static_cast<int64_t>(digits * power);
  if (negative) value = -value;
  return true;
}

bool nanoseconds_of(const char* text, const char* end, int64_t& value) {
  if (end - text > kMaxText) return false;
  const bool negative = text < end && *text == '-';
  const Digits digits = digits_of(text + (negative ? 1 : 0), end);
  if (digits.whole == digits.whole_end) return false;
  const char* rest = digits.fraction_end;
  if (rest == end) return plain_nanoseconds(digits, negative, value);
  const ptrdiff_t decimals = digits.fraction_end - digits.fraction;
  int exponent = 0;
  if (negative || (*rest | 0x20) != 'e' || !exponent_of(rest + 1, end, exponent)) return false;
  if ((digits.whole_end - digits.whole) + decimals > kMaxDigits) return false;
  uint64_t all = digits_value(digits.whole, digits.whole_end);
  all = digits_value(digits.fraction, digits.fraction_end, all);
  return scaled_by(all, exponent - static_cast<int>(decimals) + kNsDecimals, value);
}

}  // namespace overlap_native
