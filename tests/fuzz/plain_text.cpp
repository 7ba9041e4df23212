#include "plain_text.h"

#include <limits>

namespace fuzz {

namespace {

constexpr size_t kLongest = 4;

/// Bytes that the first one promises, by its leading bits; 0 for a byte that leads none.
size_t promised(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >> 5 == 0x6) return 2;
  if (lead >> 4 == 0xe) return 3;
  return lead >> 3 == 0x1e ? 4 : 0;
}

/// Whether exactly these bytes are a character.
bool is_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (promised(lead) != text.size()) return false;
  if (text.size() == 1) return true;
  constexpr uint32_t kLeast[kLongest + 1] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t code = lead & (0x7fU >> text.size());
  for (const char byte : text.substr(1)) {
    if ((byte & 0xc0) != 0x80) return false;
    code = code << 6 | (byte & 0x3f);
  }
  return code >= kLeast[text.size()] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

}  // namespace

size_t plain_utf8_length(std::string_view text) {
  const size_t length = promised(static_cast<unsigned char>(text[0]));
  if (length == 0) return 0;
  if (length <= text.size()) return is_character(text.substr(0, length)) ? length : 0;
  for (const char filler : {'\x80', '\xbf'}) {
    std::string filled(text);
    filled.resize(length, filler);
    if (is_character(filled)) return text.size() + 1;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = plain_utf8_length(text);
    if (length == 0 || length > text.size()) return false;
    text.remove_prefix(length);
  }
  return true;
}

void add_code(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
    return;
  }
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t lead = 0x1f80U >> tails & 0xff;  // as many leading bits as there are bytes
  to += static_cast<char>(lead | code >> (6 * tails));
  for (int tail = tails - 1; tail >= 0; --tail) {
    to += static_cast<char>(0x80 | (code >> (6 * tail) & 0x3f));
  }
}

void add_half(std::string& to, uint32_t code) {
  const bool second = code >= 0xdc00 && code <= 0xdfff;
  if (second && to.size() >= 3 && to[to.size() - 3] == '\xed') {
    const auto middle = static_cast<unsigned char>(to[to.size() - 2]);
    if (middle >= 0xa0 && middle <= 0xaf) {
      const uint32_t first = 0xd000U | (middle & 0x3fU) << 6 | (to.back() & 0x3fU);
      to.resize(to.size() - 3);
      return add_code(to, 0x10000 + ((first - 0xd800) << 10) + (code - 0xdc00));
    }
  }
  add_code(to, code);
}

std::optional<Decimal> plain_decimal(std::string_view text) {
  Decimal found;
  const auto digits = [&text](std::string& to) {
    while (!text.empty() && is_digit(text[0])) {
      to += text[0];
      text.remove_prefix(1);
    }
    return !to.empty();
  };
  found.negative = !text.empty() && text[0] == '-';
  if (found.negative) text.remove_prefix(1);
  if (!digits(found.whole)) return std::nullopt;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    digits(found.fraction);
  }
  if (text.empty()) return found;
  if ((text[0] | 0x20) != 'e') return std::nullopt;
  text.remove_prefix(1);
  const bool down = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::string power;
  if (!digits(power) || !text.empty() || power.size() > 3) return std::nullopt;
  found.exponent = std::stoi(power) * (down ? -1 : 1);
  return found;
}

std::optional<int64_t> Decimal::scaled(int power) const {
  __extension__ using Wide = __int128;
  const std::string all = whole + fraction;
  const long point = static_cast<long>(whole.size()) + exponent + power;
  const auto digit = [&all](long at) {
    return at >= 0 && at < static_cast<long>(all.size()) ? all[static_cast<size_t>(at)] - '0' : 0;
  };
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  Wide value = 0;
  for (long at = 0; at < point; ++at) {
    value = value * 10 + digit(at);
    if (value > kMost) return std::nullopt;
  }
  if (point >= 0 && digit(point) >= 5) ++value;
  if (value > kMost) return std::nullopt;
  return static_cast<int64_t>(negative ? -value : value);
}

}  // namespace fuzz
