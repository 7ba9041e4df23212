#include "record_reader.h"

#include <cstring>

namespace overlap_native {

namespace {

bool has_handle(RecordKey key) {
  return key == RecordKey::agent || key == RecordKey::queue || key == RecordKey::stream ||
         key == RecordKey::source || key == RecordKey::target || key == RecordKey::graph;
}

}  // namespace

Outcome RecordReader::outcome(const char* from, const char* to) {
  const Outcome found = outcome_of(from, to);
  const bool repaired = found == Outcome::whole && repaired_ != 0;
  return repaired ? Outcome::broken : found;
}

Outcome RecordReader::read(const char* at, Record& record) {
  record.present = 0;
  record.odd = false;
  record.arguments.clear();
  begin(at);
  record.end = members(at, RecordPlace::record, 0, record);
  return outcome(at, record.end);
}

const char* RecordReader::members(const char* at, RecordPlace place, unsigned depth,
                                  Record& record) {
  return object(at, static_cast<PlaceCode>(place), depth, [&](const char* from, KeyCode key) {
    return member(from, static_cast<RecordKey>(key), depth, record);
  });
}

const char* RecordReader::member(const char* at, RecordKey key, unsigned depth, Record& record) {
  if (key == RecordKey::other) {
    Value unused;
    return value(at, depth, unused);
  }
  if (key == RecordKey::correlation_id) {
    return nested(at, RecordPlace::correlation_id, depth, record);
  }
  if (key == RecordKey::dispatch_info) {
    return nested(at, RecordPlace::dispatch_info, depth, record);
  }
  if (key == RecordKey::arguments) return arguments(at, depth, record);
  if (has_handle(key)) return handle(at, key, depth, record);
  const auto index = static_cast<unsigned>(key);
  record.present |= uint32_t{1} << index;
  return value(at, depth, record.values[index]);
}

const char* RecordReader::nested(const char* at, RecordPlace place, unsigned depth,
                                 Record& record) {
  return peek(at) == '{' ? members(at, place, depth + 1, record) : no_value(at, depth, record);
}

/// A value that must be none.
const char* RecordReader::no_value(const char* at, unsigned depth, Record& record) {
  Value found;
  at = value(at, depth, found);
  if (at != nullptr) record.odd |= found.token() != "null";
  return at;
}

/// `{"handle": 1}` or `1`.
const char* RecordReader::handle(const char* at, RecordKey key, unsigned depth, Record& record) {
  const uint32_t bit = uint32_t{1} << static_cast<unsigned>(key);
  Value& found = record.values[static_cast<size_t>(key)];
  if (peek(at) != '{') {
    record.present |= bit;
    return value(at, depth, found);
  }
  constexpr uint32_t kHandle = uint32_t{1} << static_cast<unsigned>(RecordKey::handle);
  record.present &= ~kHandle;
  at = members(at, RecordPlace::handle, depth + 1, record);
  if ((record.present & kHandle) != 0) {
    record.present |= bit;
    found = record[RecordKey::handle];
  }
  return at;
}

const char* RecordReader::arguments(const char* at, unsigned depth, Record& record) {
  if (peek(at) == '{' && peek(blank(at + 1)) == '}') return blank(at + 1) + 1;
  if (peek(at) != '[') return no_value(at, depth, record);
  return array(at, depth + 1, [&](const char* from) {
    if (peek(from) == '{') return argument(from, depth + 2, record);
    record.odd = true;
    Value unused;
    return value(from, depth + 1, unused);
  });
}

const char* RecordReader::argument(const char* at, unsigned depth, Record& record) {
  Argument& found = record.arguments.emplace_back();
  const auto place = static_cast<PlaceCode>(RecordPlace::argument);
  return object(at, place, depth, [&](const char* from, KeyCode code) {
    const auto key = static_cast<RecordKey>(code);
    Value unused;
    found.has_type |= key == RecordKey::argument_type;
    found.has_name |= key == RecordKey::argument_name;
    found.has_value |= key == RecordKey::argument_value;
    Value& into = key == RecordKey::argument_type    ? found.type
                  : key == RecordKey::argument_name  ? found.name
                  : key == RecordKey::argument_value ? found.value
                                                     : unused;
    return value(from, depth, into);
  });
}

Outcome RecordReader::read(const char* at, Symbol& symbol) {
  symbol.has_id = symbol.has_formatted = symbol.has_demangled = symbol.has_name = false;
  begin(at);
  const auto place = static_cast<PlaceCode>(RecordPlace::symbol);
  symbol.end = object(at, place, 0, [&](const char* from, KeyCode code) {
    const auto key = static_cast<RecordKey>(code);
    Value unused;
    symbol.has_id |= key == RecordKey::kernel;
    symbol.has_formatted |= key == RecordKey::formatted_name;
    symbol.has_demangled |= key == RecordKey::demangled_name;
    symbol.has_name |= key == RecordKey::symbol_name;
    Value& into = key == RecordKey::kernel           ? symbol.id
                  : key == RecordKey::formatted_name ? symbol.formatted
                  : key == RecordKey::demangled_name ? symbol.demangled
                  : key == RecordKey::symbol_name    ? symbol.name
                                                     : unused;
    return value(from, 0, into);
  });
  return outcome(at, symbol.end);
}

bool RecordReader::unescaped(const Value& text) const {
  const auto length = static_cast<size_t>(text.end - text.begin);
  return !structure_->escapes || std::memchr(text.begin, '\\', length) == nullptr;
}

}  // namespace overlap_native
