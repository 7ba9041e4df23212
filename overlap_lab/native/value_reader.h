// JSON values of any kind, checked as Python's strict parser checks them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keys.h"
#include "structure.h"

namespace overlap_native {

/// A value as it stands in the text.
struct Value {
  enum Form : uint8_t { string, number, other };
  Form form = other;
  /// Of a number of at most 18 digits: how many of these stand behind the dot; -1 for any other
  /// value.
  int8_t decimals = -1;
  bool negative = false;
  uint64_t digits = 0;
  const char* begin = nullptr;  // of the text; of a string without its quotes
  const char* end = nullptr;

  /// The JSON text, quotes and all.
  std::string_view token() const {
    const int quote = form == string ? 1 : 0;
    return {begin - quote, static_cast<size_t>(end - begin) + 2 * quote};
  }
};

enum class Outcome : uint8_t { whole, cut, broken };

/// Reads what one `Structure` covers; the insides of strings the scan has checked.
class ValueReader {
 public:
  explicit ValueReader(KeyOrders& orders) : orders_(orders) {}

  /// Text to read from here on; `KeyOrders::kSpelled` bytes behind its end must be readable.
  void start(const char* text, size_t size, const Structure& structure);

  /// Bytes of blank text are passed over.
  const char* blank(const char* at) const {
    if (static_cast<unsigned char>(at[0]) > ' ') return at;
    if (at[0] == ' ' && static_cast<unsigned char>(at[1]) > ' ' && at < end_) return at + 1;
    return blanks(at);
  }
  /// The byte at `at`, 0 at the end.
  char peek(const char* at) const { return at < end_ ? *at : '\0'; }
  const char* end() const { return end_; }

  /// Pass over any value. `whole`: `at` is behind it, `found` is what was there, and `repaired` how
  /// many objects in it have a repeated key, NaN or Infinity.
  Outcome pass(const char*& at, Value& found, uint32_t& repaired);
  Outcome pass(const char*& at, uint32_t& repaired) {
    Value unused;
    return pass(at, unused, repaired);
  }

 protected:
  /// Reads the object at `at`: `member(at, key)` reads the value of each key and returns its end.
  template <class Member>
  const char* object(const char* at, PlaceCode place, unsigned depth, const Member& member);
  /// Reads the list at `at`: `item(at)` reads each value in it and returns its end.
  template <class Item>
  const char* array(const char* at, unsigned depth, const Item& item);
  const char* value(const char* at, unsigned depth, Value& found);
  const char* fail(const char* at);
  void begin(const char* at);
  Outcome outcome_of(const char* from, const char* to);

  const Structure* structure_ = nullptr;
  uint32_t repaired_ = 0;
  bool constant_ = false;  // a word for no number since the last object ended

 private:
  static constexpr unsigned kMaxDepth = 512;

  const char* blanks(const char* at) const;
  const char* next_key(const char* at, ObjectKeys& keys, bool first, KeyCode& key, bool& closed);
  const char* new_key(const char* at, const char* from, ObjectKeys& keys, KeyCode& key);
  const char* any_object(const char* at, unsigned depth);
  const char* any_array(const char* at, unsigned depth);
  const char* string(const char* at, Value& found);
  const char* number(const char* at, Value& found);
  const char* short_number(const char* at, Value& found) const;
  const char* word(const char* at);

  KeyOrders& orders_;
  const char* text_ = nullptr;
  const char* end_ = nullptr;
  const uint32_t* quote_ = nullptr;  // the next one in the text
  const uint32_t* fault_ = nullptr;
  const uint32_t* faults_end_ = nullptr;
  std::string unescaped_;
  bool broken_ = false;
};

template <class Member>
const char* ValueReader::object(const char* at, PlaceCode place, unsigned depth,
                                const Member& member) {
  if (depth > kMaxDepth) return fail(at);
  ObjectKeys keys(orders_, place);
  KeyCode key = kOtherKey;
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
    at = member(at, key);
    if (at == nullptr) return nullptr;
  }
  if (at >= end_) return nullptr;
  if (keys.repeated() || constant_) ++repaired_;
  constant_ = false;
  return at + 1;
}

template <class Item>
const char* ValueReader::array(const char* at, unsigned depth, const Item& item) {
  if (depth > kMaxDepth) return fail(at);
  at = blank(at + 1);
  if (peek(at) == ']') return at + 1;
  while (true) {
    at = item(at);
    if (at == nullptr) return nullptr;
    at = blank(at);
    if (peek(at) != ',') break;
    at = blank(at + 1);
  }
  return peek(at) == ']' ? at + 1 : fail(at);
}

}  // namespace overlap_native
