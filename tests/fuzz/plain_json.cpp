#include "plain_json.h"

#include "plain_text.h"

namespace fuzz {

namespace {

constexpr size_t kMaxDigits = 4300;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool PlainJson::list() {
  blank();
  if (takes(']')) return true;
  while (true) {
    const bool is_object = at_ < text_.size() && text_[at_] == '{';
    if (is_object ? !object(0) : !value(0)) return false;
    ++(is_object ? objects : others);
    blank();
    if (takes(']')) return true;
    if (!takes(',')) return false;
    blank();
  }
}

bool PlainJson::document() {
  blank();
  if (!value(0)) return false;
  blank();
  return at_ == text_.size();
}

bool PlainJson::value(unsigned depth) {
  if (at_ >= text_.size()) return false;
  std::string unused;
  switch (text_[at_]) {
    case '{':
      return object(depth + 1);
    case '[':
      return array(depth + 1);
    case '"':
      return string(unused);
    default:
      return word() || number();
  }
}

bool PlainJson::object(unsigned depth) {
  if (depth > deepest_ || !takes('{')) return false;
  std::set<std::string> keys;
  bool repeated = false;
  blank();
  for (bool first = true; !takes('}'); first = false) {
    if (!first) {
      if (!takes(',')) return false;
      blank();
    }
    std::string key;
    if (!string(key)) return false;
    repeated |= !keys.insert(key).second;
    blank();
    if (!takes(':')) return false;
    blank();
    if (!value(depth)) return false;
    blank();
  }
  if (repeated || constant_) ++repaired;
  constant_ = false;
  return true;
}

bool PlainJson::array(unsigned depth) {
  if (depth > deepest_ || !takes('[')) return false;
  blank();
  for (bool first = true; !takes(']'); first = false) {
    if (!first) {
      if (!takes(',')) return false;
      blank();
    }
    if (!value(depth)) return false;
    blank();
  }
  return true;
}

bool PlainJson::string(std::string& content) {
  if (!takes('"')) return false;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') return true;
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (c == '\\') {
      if (!escape(content)) return false;
    } else {
      content += c;
    }
  }
  return false;
}

/// What stands behind a backslash. Halves of a pair are joined where both are there.
bool PlainJson::escape(std::string& content) {
  if (at_ >= text_.size()) return false;
  const char letter = text_[at_++];
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  const size_t known = kLetters.find(letter);
  if (known != std::string_view::npos) {
    content += kMeant[known];
    return true;
  }
  if (letter != 'u' || text_.size() - at_ < 4) return false;
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(text_[at_++]);
    if (digit < 0) return false;
    code = code * 16 + static_cast<uint32_t>(digit);
  }
  add_half(content, code);
  return true;
}

bool PlainJson::number() {
  const size_t begin = at_;
  takes('-');
  const size_t whole_from = at_;
  if (!takes('0') && digits() == 0) return false;
  const size_t whole = at_ - whole_from;
  bool integral = true;
  if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
    ++at_;
    digits();
    integral = false;
  }
  const size_t power = at_;
  if (takes('e') || takes('E')) {
    if (!takes('+')) takes('-');
    if (digits() == 0) {
      at_ = power;
    } else {
      integral = false;
    }
  }
  return at_ > begin && !(integral && whole > kMaxDigits);
}

size_t PlainJson::digits() {
  const size_t from = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ - from;
}

bool PlainJson::word() {
  for (const std::string_view known : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
    if (text_.substr(at_, known.size()) != known) continue;
    at_ += known.size();
    constant_ |= known == "NaN" || known.back() == 'y';
    return true;
  }
  return false;
}

void PlainJson::blank() {
  while (at_ < text_.size() &&
         std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
    ++at_;
}

bool PlainJson::takes(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

}  // namespace fuzz
