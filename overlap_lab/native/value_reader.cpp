#include "value_reader.h"

#include <cstring>

#include "digits.h"
#include "numbers.h"
#include "utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overlap_native {

namespace {

constexpr size_t kMaxShort = 18;               // digits that fit 64 bits whatever they are
constexpr ptrdiff_t kMaxIntegerDigits = 4300;  // as many as Python turns into an int

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool in_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

bool ends_number(char c) { return c == ',' || c == '}' || c == ']' || is_blank(c); }

}  // namespace

void ValueReader::start(const char* text, size_t size, const Structure& structure) {
  text_ = text;
  end_ = text + size;
  structure_ = &structure;
  quote_ = structure.quotes.data();
  fault_ = structure.faults.data();
  faults_end_ = fault_ + structure.faults.size();
}

const char* ValueReader::blanks(const char* at) const {
  if (at >= end_ || !is_blank(*at)) return at;
  ++at;
#if defined(__SSE2__)
  // Indented files are blanks for the larger part.
  const __m128i space = _mm_set1_epi8(' ');
  while (end_ - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto other =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, space))) ^ 0xffffU;
    if (other != 0) {
      at += __builtin_ctz(other);
      if (!is_blank(*at)) return at;
      ++at;
    } else {
      at += 16;
    }
  }
#endif
  while (at < end_ && is_blank(*at)) ++at;
  return at;
}

const char* ValueReader::fail(const char* at) {
  if (at < end_) broken_ = true;
  return nullptr;
}

Outcome ValueReader::pass(const char*& at, Value& found, uint32_t& repaired) {
  begin(at);
  const bool constant = constant_;
  const char* end = value(at, 0, found);
  const Outcome outcome = outcome_of(at, end);
  if (outcome == Outcome::whole) at = end;
  if (outcome != Outcome::whole) constant_ = constant;
  repaired = repaired_;
  return outcome;
}

void ValueReader::begin(const char* at) {
  repaired_ = 0;
  broken_ = false;
  while (text_ + *quote_ < at) ++quote_;
}

Outcome ValueReader::outcome_of(const char* from, const char* to) {
  // A fault inside a string; behind it the quotes that the scan found mean nothing.
  while (fault_ < faults_end_ && text_ + *fault_ < from) ++fault_;
  const bool faulty = fault_ < faults_end_ && text_ + *fault_ < (to == nullptr ? end_ : to);
  if (faulty || broken_) return Outcome::broken;
  return to == nullptr ? Outcome::cut : Outcome::whole;
}

/// Where the value of the next key begins; `closed`: where the brace is that closes the object.
const char* ValueReader::next_key(const char* at, ObjectKeys& keys, bool first, KeyCode& key,
                                  bool& closed) {
  const char* from = at;
  at = blank(at);
  closed = peek(at) == '}';
  if (closed) return at;
  if (!first) {
    if (peek(at) != ',') return fail(at);
    at = blank(at + 1);
  }
  return new_key(at, from, keys, key);
}

const char* ValueReader::new_key(const char* at, const char* from, ObjectKeys& keys, KeyCode& key) {
  Value text;
  if (peek(at) != '"') return fail(at);
  at = string(at, text);
  if (at == nullptr) return nullptr;
  const auto length = static_cast<size_t>(text.end - text.begin);
  const bool escaped = structure_->escapes && std::memchr(text.begin, '\\', length) != nullptr;
  if (escaped) {
    unescaped_.clear();
    append_unescaped(unescaped_, text.begin, text.end);
    key = keys.add(unescaped_.data(), unescaped_.size());
  } else {
    key = keys.add(text.begin, length);
  }
  at = blank(at);
  if (peek(at) != ':') return fail(at);
  at = blank(at + 1);
  if (at < end_ && !escaped) keys.spell(from, at);
  return at;
}

const char* ValueReader::any_object(const char* at, unsigned depth) {
  return object(at, kElsewhere, depth, [this, depth](const char* from, KeyCode) {
    Value unused;
    return value(from, depth, unused);
  });
}

const char* ValueReader::any_array(const char* at, unsigned depth) {
  return array(at, depth, [this, depth](const char* from) {
    Value unused;
    return value(from, depth, unused);
  });
}

const char* ValueReader::value(const char* at, unsigned depth, Value& found) {
  const char c = peek(at);
  if (c == '"') return string(at, found);
  if ((c >= '0' && c <= '9') || c == '-') return number(at, found);
  found.form = Value::other;
  found.decimals = -1;
  found.begin = at;
  const char* end = c == '{'   ? any_object(at, depth + 1)
                    : c == '[' ? any_array(at, depth + 1)
                               : word(at);
  found.end = end;
  return end;
}

const char* ValueReader::string(const char* at, Value& found) {
  if (text_ + *quote_ != at) return fail(at);
  found.form = Value::string;
  found.decimals = -1;
  found.begin = at + 1;
  found.end = text_ + quote_[1];
  quote_ += 2;
  return found.end < end_ ? found.end + 1 : nullptr;
}

const char* ValueReader::number(const char* at, Value& found) {
  found.form = Value::number;
  found.begin = at;
  if (const char* end = short_number(at, found)) return found.end = end;
  found.decimals = -1;
  bool integral = false;
  const char* end = number_end(at, end_, integral);
  if (end == nullptr) {
    if (end_ - at > 1 && at[1] == 'I') return found.end = word(at);
    return fail(end_ - at > 1 ? at : end_);
  }
  found.end = end;
  if (!ends_number(peek(end))) {  // wrong, or cut off inside, as in "1."
    while (end < end_ && in_number(*end)) ++end;
    return fail(end);
  }
  const bool too_long = integral && end - at - (*at == '-' ? 1 : 0) > kMaxIntegerDigits;
  return too_long ? fail(at) : end;
}

/// Digits with or without a dot among them; nullptr for any other spelling, and for what is too
/// long.
const char* ValueReader::short_number(const char* at, Value& found) const {
  found.negative = *at == '-';
  if (found.negative) ++at;
  const char* begin = at;
  uint64_t digits = 0;
  const size_t whole = append_digits(at, end_, digits);
  at += whole;
  size_t decimals = 0;
  if (*at == '.') {
    decimals = append_digits(++at, end_, digits);
    if (decimals == 0) return nullptr;
    at += decimals;
  }
  const bool plain = whole > 0 && whole + decimals <= kMaxShort && (whole == 1 || *begin != '0');
  if (!plain || at >= end_ || !ends_number(*at)) return nullptr;
  found.digits = digits;
  found.decimals = static_cast<int8_t>(decimals);
  return at;
}

const char* ValueReader::word(const char* at) {
  constexpr std::string_view kWords[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  const auto left = static_cast<size_t>(end_ - at);
  for (const std::string_view known : kWords) {
    const size_t length = left < known.size() ? left : known.size();
    if (std::memcmp(at, known.data(), length) != 0) continue;
    if (length < known.size()) return nullptr;
    const char last = known.back();
    constant_ |= last == 'N' || last == 'y';
    return at + length;
  }
  return fail(at);
}

}  // namespace overlap_native
