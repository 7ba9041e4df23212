// Numbers, characters, escapes and interned texts, each held to the plainest way of reading them.
#include <map>
#include <string>
#include <vector>

#include "digits.h"
#include "interned.h"
#include "law.h"
#include "numbers.h"
#include "plain_text.h"
#include "text_codes.h"
#include "utf8.h"

namespace {

using fuzz::require;

constexpr int kNsDecimals = 3;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_nanoseconds(std::string_view text) {
  constexpr size_t kPlain = 16, kLongest = 31;
  int64_t value = 0;
  const bool read = overlap_native::nanoseconds_of(text.data(), text.data() + text.size(), value);
  const auto plain = fuzz::plain_decimal(text);
  const auto exact = plain ? plain->scaled(kNsDecimals) : std::nullopt;
  if (read) require(exact && *exact == value, "nanoseconds are those of exact arithmetic");
  const bool easy = exact && text.size() <= kLongest && !plain->negative &&
                    plain->whole.size() <= kPlain && text.find_first_of("eE") == text.npos;
  if (easy) require(read, "plain decimals are not left to others");
}

void check_known_digits(std::string_view text) {
  constexpr size_t kMost = 18;
  const auto plain = fuzz::plain_decimal(text);
  if (!plain || text.find_first_of("eE") != text.npos) return;
  const std::string digits = plain->whole + plain->fraction;
  if (digits.size() > kMost) return;
  int64_t value = 0;
  const bool read = overlap_native::nanoseconds_of(
      std::stoull(digits), static_cast<int>(plain->fraction.size()), plain->negative, value);
  if (read) require(plain->scaled(kNsDecimals) == value, "known digits make the same nanoseconds");
}

void check_integers(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  const bool shortest = all_digits(digits) && (digits[0] != '0' || digits.size() == 1);
  __extension__ using Wide = unsigned __int128;
  Wide size = 0;
  for (size_t i = 0; shortest && i < digits.size() && size <= UINT64_MAX; ++i) {
    size = size * 10 + static_cast<unsigned>(digits[i] - '0');
  }
  const char* end = text.data() + text.size();
  uint64_t whole = 0;
  const bool fits = shortest && !negative && size <= UINT64_MAX;
  require(overlap_native::unsigned_of(text.data(), end, whole) == fits,
          "what fits 64 bits is read");
  if (fits) require(whole == size, "an unsigned number is exact");
  int64_t value = 0;
  const bool fits_signed = shortest && size <= INT64_MAX && !(negative && size == 0);
  require(overlap_native::integer_of(text.data(), end, value) == fits_signed,
          "what fits 63 bits is read");
  if (fits_signed) {
    const auto magnitude = static_cast<int64_t>(size);
    require(value == (negative ? -magnitude : magnitude), "an integer is exact");
  }
}

/// The number at the front of the text as the grammar of JSON has it, read backwards: the longest
/// front that is one.
size_t plain_number(std::string_view text, bool& integral) {
  for (size_t size = std::min(text.size(), size_t{64}); size > 0; --size) {
    const std::string_view front = text.substr(0, size);
    const size_t sign = front[0] == '-' ? 1 : 0;
    const size_t whole_end = std::min(front.find_first_not_of("0123456789", sign), front.size());
    const std::string_view whole = front.substr(sign, whole_end - sign);
    if (whole.empty() || (whole[0] == '0' && whole.size() > 1)) continue;
    std::string_view rest = front.substr(whole_end);
    integral = rest.empty();
    if (!rest.empty() && rest[0] == '.') {
      const size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
      if (end == 1) continue;
      rest.remove_prefix(end);
    }
    if (rest.empty()) return size;
    if (rest[0] != 'e' && rest[0] != 'E') continue;
    rest.remove_prefix(rest.size() > 1 && (rest[1] == '+' || rest[1] == '-') ? 2 : 1);
    if (all_digits(rest)) return size;
  }
  return 0;
}

void check_number_end(std::string_view text) {
  if (text.size() > 64) return;
  bool integral = false, plainly = false;
  const char* end = overlap_native::number_end(text.data(), text.data() + text.size(), integral);
  const size_t size = plain_number(text, plainly);
  require((end == nullptr) == (size == 0), "a number is told from what is none");
  if (end == nullptr) return;
  require(end == text.data() + size, "a number ends where JSON has its end");
  require(integral == plainly, "an integer is told from what is none");
}

void check_digits(std::string_view text) {
  constexpr size_t kMargin = 15, kMost = 18;
  std::string padded(text);
  padded.append(kMargin, '\0');
  uint64_t value = 0;
  const size_t run =
      overlap_native::append_digits(padded.data(), padded.data() + text.size(), value);
  const size_t plain = std::min(text.find_first_not_of("0123456789"), text.size());
  require(run == plain, "a run of digits has its length");
  if (run > 0 && run <= kMost) {
    require(value == std::stoull(std::string(text.substr(0, run))),
            "a run of digits has its value");
  }
}

void check_characters(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(1)) {
    const size_t length = overlap_native::utf8_length(text.data(), text.size());
    const size_t plain = fuzz::plain_utf8_length(text);
    const bool cut = plain > text.size();
    require(length == (cut ? overlap_native::kUtf8Cut : plain), "characters have their length");
  }
}

/// The bytes as content of a JSON string: each tells a character and how it is written.
void check_escapes(std::string_view bytes) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  fuzz::Choices choices(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::string text, meant;
  while (!choices.empty()) {
    const uint8_t choice = choices.byte();
    if (choice < kLetters.size()) {
      text += {'\\', kLetters[choice]};
      meant += kMeant[choice];
    } else if (choice >= 0x80) {
      const uint32_t low = choices.byte();
      const uint32_t code =
          (choice >= 0xc0 ? 0xd800U | (choice & 0x7U) << 8 : choice & 0x7fU) | low;
      constexpr size_t kSize = 7;
      char escape[kSize];
      std::snprintf(escape, kSize, (choice & 0x20) != 0 ? "\\u%04X" : "\\u%04x", code);
      text += escape;
      fuzz::add_half(meant, code);
    } else {
      text += static_cast<char>(choice == '\\' ? 'x' : choice);
      meant += static_cast<char>(choice == '\\' ? 'x' : choice);
    }
  }
  std::string found;
  overlap_native::append_unescaped(found, text.data(), text.data() + text.size());
  require(found == meant, "escapes are undone");
}

void check_interned(std::string_view text) {
  overlap_native::Interned interned;
  overlap_native::TextCodes column;
  std::map<std::string_view, uint32_t> plain;
  std::vector<std::string_view> rows;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    rows.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const uint32_t code =
        plain.emplace(rows.back(), static_cast<uint32_t>(plain.size())).first->second;
    require(interned.code_of(rows.back()) == code, "a text has the code of its first coming");
    column.push(rows.back());
  }
  require(interned.size() == plain.size(), "each text is kept once");
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto code = static_cast<size_t>(column.codes[row]);
    require(column.texts[code] == rows[row], "a code gives its text back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_nanoseconds(text);
  check_known_digits(text);
  check_integers(text);
  check_number_end(text);
  check_digits(text);
  check_characters(text);
  check_escapes(text);
  check_interned(text);
  return 0;
}
