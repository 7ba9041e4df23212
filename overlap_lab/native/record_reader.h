// One record of rocprofv3's JSON from its text to the values that become columns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "record_keys.h"
#include "value_reader.h"

namespace overlap_native {

struct Argument {
  Value type, name, value;
  bool has_type = false;
  bool has_name = false;
  bool has_value = false;
};

struct Record {
  std::array<Value, kRecordKeys> values;
  uint32_t present = 0;  // bit per RecordKey
  std::vector<Argument> arguments;
  bool odd = false;  // something that means something is not what it should be
  const char* end = nullptr;

  bool has(RecordKey key) const { return (present >> static_cast<unsigned>(key) & 1) != 0; }
  const Value& operator[](RecordKey key) const { return values[static_cast<size_t>(key)]; }
};

struct Symbol {
  Value id, formatted, demangled, name;
  bool has_id = false;
  bool has_formatted = false;
  bool has_demangled = false;
  bool has_name = false;
  const char* end = nullptr;
};

/// `broken` where a key came twice or a number is none, too.
class RecordReader : public ValueReader {
 public:
  using ValueReader::ValueReader;

  Outcome read(const char* at, Record& record);
  Outcome read(const char* at, Symbol& symbol);

  /// Whether the text of a string is in the file as it is meant.
  bool unescaped(const Value& text) const;

 private:
  const char* members(const char* at, RecordPlace place, unsigned depth, Record& record);
  const char* member(const char* at, RecordKey key, unsigned depth, Record& record);
  const char* nested(const char* at, RecordPlace place, unsigned depth, Record& record);
  const char* handle(const char* at, RecordKey key, unsigned depth, Record& record);
  const char* arguments(const char* at, unsigned depth, Record& record);
  const char* argument(const char* at, unsigned depth, Record& record);
  const char* no_value(const char* at, unsigned depth, Record& record);
  Outcome outcome(const char* from, const char* to);
};

}  // namespace overlap_native
