#include "utf8.h"

#include <algorithm>
#include <cstring>

namespace overlap_native {

namespace {

struct Lead {
  size_t length;
  unsigned char low, high;  // bounds of the second byte
};

Lead lead_of(unsigned char c) {
  if (c >= 0xc2 && c <= 0xdf) return {2, 0x80, 0xbf};
  if (c == 0xe0) return {3, 0xa0, 0xbf};
  if (c == 0xed) return {3, 0x80, 0x9f};
  if (c >= 0xe1 && c <= 0xef) return {3, 0x80, 0xbf};
  if (c == 0xf0) return {4, 0x90, 0xbf};
  if (c >= 0xf1 && c <= 0xf3) return {4, 0x80, 0xbf};
  if (c == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

uint32_t hex4(const char* text) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = text[i];
    value = value * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

char control_of(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

bool is_low_surrogate(uint32_t code) { return code >= 0xdc00 && code <= 0xdfff; }

/// Appends the character of "uXXXX" at `text`, joined with a second half behind it; returns its
/// end.
const char* append_code(std::string& to, const char* text, const char* end) {
  uint32_t code = hex4(text + 1);
  text += 5;
  const bool high = code >= 0xd800 && code <= 0xdbff;
  if (high && end - text >= 6 && text[0] == '\\' && text[1] == 'u') {
    const uint32_t low = hex4(text + 2);
    if (is_low_surrogate(low)) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      text += 6;
    }
  }
  append_utf8(to, code);
  return text;
}

}  // namespace

size_t utf8_length(const char* text, size_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text);
  if (bytes[0] < 0x80) return 1;
  const Lead lead = lead_of(bytes[0]);
  if (lead.length == 0) return 0;
  if (size < 2) return kUtf8Cut;
  if (bytes[1] < lead.low || bytes[1] > lead.high) return 0;
  for (size_t i = 2; i < lead.length; ++i) {
    if (i >= size) return kUtf8Cut;
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  }
  return lead.length;
}

bool Utf8Walk::sound(size_t begin, size_t end, bool zeros) {
  bool sound = true;
  at_ = std::max(at_, begin);
  for (end = std::min(end, size_); at_ < end;) {
    const size_t length = utf8_length(text_ + at_, size_ - at_);
    const bool cut = length == kUtf8Cut;
    if (length == 0 || (cut && last_) || (!zeros && text_[at_] == '\0')) sound = false;
    at_ = length == 0 || cut ? size_ : at_ + length;
  }
  return sound;
}

void append_utf8(std::string& to, uint32_t code) {
  const auto tail = [code](unsigned shift) {
    return static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += {static_cast<char>(0xc0 | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    to += {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  } else {
    to += {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
  }
}

void append_unescaped(std::string& to, const char* text, const char* end) {
  while (text < end) {
    const auto* slash =
        static_cast<const char*>(std::memchr(text, '\\', static_cast<size_t>(end - text)));
    if (slash == nullptr) slash = end;
    to.append(text, slash);
    text = slash + 1;
    if (slash >= end) return;
    if (*text == 'u') {
      text = append_code(to, text, end);
    } else {
      to += control_of(*text++);
    }
  }
}

}  // namespace overlap_native
