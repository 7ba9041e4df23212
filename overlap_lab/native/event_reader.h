// One event of a trace from its JSON text to the few values that become columns.
#pragma once

#include <array>
#include <cstdint>

#include "event_keys.h"
#include "value_reader.h"

namespace overlap_native {

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

/// Every value is checked, also of keys that mean nothing.
class EventReader : public ValueReader {
 public:
  using ValueReader::ValueReader;

  /// Read the object at `at`. `whole`: `event.end` is behind it.
  Outcome read(const char* at, Event& event);

 private:
  const char* members(const char* at, Place place, unsigned depth, Event& event);
  const char* member(const char* at, Key key, unsigned depth, Event& event);
  const char* arguments(const char* at, unsigned depth, Event& event);
};

}  // namespace overlap_native
