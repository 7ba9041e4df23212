#include "record_table.h"

#include <algorithm>

#include "numbers.h"
#include "utf8.h"

namespace overlap_native {

namespace {

constexpr ptrdiff_t kLongestNumber = 40;  // as long as Python's reader takes a text for a number

std::string_view text_of(const Value& value) {
  return {value.begin, static_cast<size_t>(value.end - value.begin)};
}

bool is_null(const Value& value) { return value.form == Value::other && text_of(value) == "null"; }

/// The number of a plain integer; false for anything else.
bool plain_integer(const Value& value, int64_t& number) {
  if (value.form != Value::number) return false;
  if (value.decimals != 0) return integer_of(value.begin, value.end, number);
  const auto digits = static_cast<int64_t>(value.digits);
  number = value.negative ? -digits : digits;
  return true;
}

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

void RecordTable::add(const Record& record, const RecordReader& reader,
                      const WantedArguments& wanted) {
  odd |= record.odd;
  for (const Argument& argument : record.arguments) add_argument(argument, reader, wanted);
  start.push(number(record, RecordKey::start));
  end.push(number(record, RecordKey::end));
  bytes.push(number(record, RecordKey::bytes));
  correlation.push(id(record));
  kind.push(number(record, RecordKey::kind));
  operation.push(number(record, RecordKey::operation));
  thread.push(number(record, RecordKey::thread));
  kernel.push(number(record, RecordKey::kernel));
  agent.push(number(record, RecordKey::agent));
  queue.push(number(record, RecordKey::queue));
  stream.push(number(record, RecordKey::stream));
  source.push(number(record, RecordKey::source));
  target.push(number(record, RecordKey::target));
  graph.push(number(record, RecordKey::graph));
}

int64_t RecordTable::number(const Record& record, RecordKey key) {
  if (!record.has(key) || is_null(record[key])) return kNoNumber;
  int64_t found = kNoNumber;
  odd |= !plain_integer(record[key], found);
  return found;
}

uint64_t RecordTable::id(const Record& record) {
  if (!record.has(RecordKey::correlation) || is_null(record[RecordKey::correlation])) return 0;
  const Value& value = record[RecordKey::correlation];
  if (value.decimals == 0 && !value.negative) return value.digits;
  uint64_t found = 0;
  odd |= value.form != Value::number || !unsigned_of(value.begin, value.end, found);
  return found;
}

void RecordTable::add_argument(const Argument& argument, const RecordReader& reader,
                               const WantedArguments& wanted) {
  const bool named = argument.has_name && argument.name.form == Value::string;
  const bool typed = argument.has_type && argument.type.form == Value::string;
  odd |= named && !reader.unescaped(argument.name);
  odd |= typed && !reader.unescaped(argument.type);
  const bool keep = (named && contains(wanted.names, text_of(argument.name))) ||
                    (typed && contains(wanted.types, text_of(argument.type)));
  if (!keep) return;
  const Value& value = argument.value;
  const bool is_text = argument.has_value && value.form == Value::string && reader.unescaped(value);
  const bool is_number = argument.has_value && value.form == Value::number &&
                         value.end - value.begin <= kLongestNumber;
  odd |= !is_text && !is_number;
  if (odd) return;
  argument_row.push(static_cast<uint32_t>(size()));
  argument_value.push(text_of(value));
  if (named) argument_name.push(text_of(argument.name));
  if (!named) argument_name.push_none();
  if (typed) argument_type.push(text_of(argument.type));
  if (!typed) argument_type.push_none();
}

void SymbolTable::add(const Symbol& symbol, const RecordReader& reader) {
  int64_t id = kNoNumber;
  if (symbol.has_id && !is_null(symbol.id)) odd |= !plain_integer(symbol.id, id);
  ids.push(id);
  const Value* const values[] = {symbol.has_formatted ? &symbol.formatted : nullptr,
                                 symbol.has_demangled ? &symbol.demangled : nullptr,
                                 symbol.has_name ? &symbol.name : nullptr};
  for (const Value* value : values) {
    if (value == nullptr || is_null(*value)) continue;
    odd |= value->form != Value::string;
    if (value->form != Value::string || value->begin == value->end) continue;
    if (reader.unescaped(*value)) {
      names.push(text_of(*value));
      return;
    }
    room_.clear();
    append_unescaped(room_, value->begin, value->end);
    names.push(room_);
    return;
  }
  names.push_none();
}

}  // namespace overlap_native
