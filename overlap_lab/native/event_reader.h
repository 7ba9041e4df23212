// One event of a trace from its JSON text to the few values that become columns.
#pragma once

#include <array>
#include <cstdint>
#include <string>

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

struct Event {
  std::array<Value, kKeys> values;
  uint32_t present = 0;  // bit per Key
  const char* begin = nullptr;
  const char* end = nullptr;
  uint32_t repaired = 0;  // objects with a repeated key, NaN or Infinity
  bool has_arguments = false;

  bool has(Key key) const { return (present >> static_cast<unsigned>(key) & 1) != 0; }
  const Value& operator[](Key key) const { return values[static_cast<size_t>(key)]; }
};

enum class Outcome : uint8_t { whole, cut, broken };

/// Reads what one `Structure` covers. Every value is checked as Python's strict parser checks it,
/// but for the insides of strings, which the scan has checked.
class EventReader {
 public:
  explicit EventReader(KeyOrders& orders) : orders_(orders) {}

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

  /// Read the object at `at`. `whole`: `event.end` is behind it.
  Outcome read(const char* at, Event& event);
  /// Pass over any value. `whole`: `at` is behind it.
  Outcome pass(const char*& at, uint32_t& repaired);

 private:
  const char* blanks(const char* at) const;
  const char* object(const char* at, Place place, unsigned depth, Event* event);
  const char* array(const char* at, unsigned depth);
  const char* next_key(const char* at, ObjectKeys& keys, bool first, Key& key, bool& closed);
  const char* new_key(const char* at, const char* from, ObjectKeys& keys, Key& key);
  const char* member(const char* at, Key key, Place place, unsigned depth, Event* event);
  const char* value(const char* at, unsigned depth, Value& found);
  const char* arguments(const char* at, unsigned depth, Event& event);
  const char* string(const char* at, Value& found);
  const char* number(const char* at, Value& found);
  const char* short_number(const char* at, Value& found) const;
  const char* word(const char* at);
  const char* fail(const char* at);
  void begin(const char* at);
  Outcome outcome_of(const char* from, const char* to);

  KeyOrders& orders_;
  const char* text_ = nullptr;
  const char* end_ = nullptr;
  const uint32_t* quote_ = nullptr;  // the next one in the text
  const uint32_t* fault_ = nullptr;
  const uint32_t* faults_end_ = nullptr;
  const Structure* structure_ = nullptr;
  std::string unescaped_;
  uint32_t repaired_ = 0;
  bool constant_ = false;
  bool broken_ = false;
};

}  // namespace overlap_native
