#include "event_reader.h"

#include <cstring>

#include "digits.h"
#include "numbers.h"
#include "utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overlap_native {

namespace {

constexpr unsigned kMaxDepth = 512;
constexpr size_t kMaxShort = 18;               // digits that fit 64 bits whatever they are
constexpr ptrdiff_t kMaxIntegerDigits = 4300;  // as many as Python turns into an int
constexpr uint32_t kArgumentBits =
    ((uint32_t{1} << kKeys) - 1) & ~((uint32_t{1} << static_cast<unsigned>(Key::correlation)) - 1);

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool in_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || (c | 0x20) == 'e';
}

bool ends_number(char c) { return c == ',' || c == '}' || c == ']' || is_blank(c); }

}  // namespace

void EventReader::start(const char* text, size_t size, const Structure& structure) {
  text_ = text;
  end_ = text + size;
  structure_ = &structure;
  quote_ = structure.quotes.data();
  fault_ = structure.faults.data();
  faults_end_ = fault_ + structure.faults.size();
}

const char* EventReader::blanks(const char* at) const {
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

const char* EventReader::fail(const char* at) {
  if (at < end_) broken_ = true;
  return nullptr;
}

Outcome EventReader::read(const char* at, Event& event) {
  event.present = 0;
  event.has_arguments = false;
  event.begin = at;
  event.repaired = 0;
  begin(at);
  const bool constant = constant_;
  event.end = object(at, Place::event, 0, &event);
  const Outcome outcome = outcome_of(at, event.end);
  if (outcome == Outcome::whole) event.repaired = repaired_;
  if (outcome != Outcome::whole) constant_ = constant;  // it will be read again
  return outcome;
}

Outcome EventReader::pass(const char*& at, uint32_t& repaired) {
  begin(at);
  const bool constant = constant_;
  Value unused;
  const char* end = value(at, 0, unused);
  const Outcome outcome = outcome_of(at, end);
  if (outcome == Outcome::whole) at = end;
  if (outcome != Outcome::whole) constant_ = constant;
  repaired = repaired_;
  return outcome;
}

void EventReader::begin(const char* at) {
  repaired_ = 0;
  broken_ = false;
  while (text_ + *quote_ < at) ++quote_;
}

Outcome EventReader::outcome_of(const char* from, const char* to) {
  // A fault inside a string; behind it the quotes that the scan found mean nothing.
  while (fault_ < faults_end_ && text_ + *fault_ < from) ++fault_;
  const bool faulty = fault_ < faults_end_ && text_ + *fault_ < (to == nullptr ? end_ : to);
  if (faulty || broken_) return Outcome::broken;
  return to == nullptr ? Outcome::cut : Outcome::whole;
}

const char* EventReader::object(const char* at, Place place, unsigned depth, Event* event) {
  if (depth > kMaxDepth) return fail(at);
  ObjectKeys keys(orders_, place);
  Key key = Key::other;
  ++at;
  for (bool first = true; *at != '}'; first = false) {
    if (const char* brace = keys.closes(at)) {
      at = brace;
      break;
    }
    if (const char* known = keys.walk(at, key)) {
      quote_ += 2;
      at = blank(known);  // there may be more of it than before
    } else {
      const char* from = at;
      bool closed = false;
      at = next_key(at, keys, first, key, closed);
      if (closed) keys.spell_end(from, at);
      if (closed) break;
    }
    if (at == nullptr || at >= end_) return nullptr;
    at = member(at, key, place, depth, event);
    if (at == nullptr) return nullptr;
  }
  if (at >= end_) return nullptr;
  if (keys.repeated() || constant_) ++repaired_;
  constant_ = false;
  return at + 1;
}

/// Where the value of the next key begins; `closed`: where the brace is that closes the object.
const char* EventReader::next_key(const char* at, ObjectKeys& keys, bool first, Key& key,
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

const char* EventReader::new_key(const char* at, const char* from, ObjectKeys& keys, Key& key) {
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

const char* EventReader::member(const char* at, Key key, Place place, unsigned depth,
                                Event* event) {
  Value unused;
  if (place == Place::elsewhere || key == Key::other) return value(at, depth, unused);
  if (key == Key::arguments) return arguments(at, depth, *event);
  const auto index = static_cast<unsigned>(key);
  event->present |= uint32_t{1} << index;
  return value(at, depth, event->values[index]);
}

const char* EventReader::arguments(const char* at, unsigned depth, Event& event) {
  event.present &= ~kArgumentBits;  // of arguments given twice the last count
  event.has_arguments = peek(at) == '{';
  if (event.has_arguments) return object(at, Place::arguments, depth + 1, &event);
  Value unused;
  return value(at, depth, unused);
}

const char* EventReader::array(const char* at, unsigned depth) {
  if (depth > kMaxDepth) return fail(at);
  at = blank(at + 1);
  if (peek(at) == ']') return at + 1;
  Value unused;
  while (true) {
    at = value(at, depth, unused);
    if (at == nullptr) return nullptr;
    at = blank(at);
    if (peek(at) != ',') break;
    at = blank(at + 1);
  }
  return peek(at) == ']' ? at + 1 : fail(at);
}

const char* EventReader::value(const char* at, unsigned depth, Value& found) {
  const char c = peek(at);
  if (c == '"') return string(at, found);
  if ((c >= '0' && c <= '9') || c == '-') return number(at, found);
  found.form = Value::other;
  found.decimals = -1;
  found.begin = at;
  const char* end = c == '{'   ? object(at, Place::elsewhere, depth + 1, nullptr)
                    : c == '[' ? array(at, depth + 1)
                               : word(at);
  found.end = end;
  return end;
}

const char* EventReader::string(const char* at, Value& found) {
  if (text_ + *quote_ != at) return fail(at);
  found.form = Value::string;
  found.decimals = -1;
  found.begin = at + 1;
  found.end = text_ + quote_[1];
  quote_ += 2;
  return found.end < end_ ? found.end + 1 : nullptr;
}

const char* EventReader::number(const char* at, Value& found) {
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
const char* EventReader::short_number(const char* at, Value& found) const {
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

const char* EventReader::word(const char* at) {
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
