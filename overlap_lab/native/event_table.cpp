#include "event_table.h"

#include <cstring>
#include <stdexcept>

#include "numbers.h"
#include "utf8.h"

namespace overlap_native {

namespace {

/// A number, or a number between quotes.
bool plain_integer(const Value& value, int64_t& number) {
  if (value.decimals == 0 && !(value.negative && value.digits == 0)) {
    const auto size = static_cast<int64_t>(value.digits);
    number = value.negative ? -size : size;
    return true;
  }
  return value.form != Value::other && integer_of(value.begin, value.end, number) &&
         number != kAbsent;
}

bool plain_unsigned(const Value& value, uint64_t& number) {
  if (value.decimals == 0 && !value.negative) {
    number = value.digits;
    return true;
  }
  return value.form != Value::other && unsigned_of(value.begin, value.end, number);
}

bool plain_nanoseconds(const Value& value, int64_t& number) {
  if (value.decimals >= 0 && nanoseconds_of(value.digits, value.decimals, value.negative, number)) {
    return true;
  }
  return value.form != Value::other && nanoseconds_of(value.begin, value.end, number);
}

bool whole_thousand(const Value& value) {
  if (value.form == Value::other) return value.token() == "false";  // which Python counts as 0
  if (value.form == Value::string) return false;
  bool integral = false;
  number_end(value.begin, value.end, integral);
  if (!integral) return false;
  const auto size = static_cast<size_t>(value.end - value.begin);
  const std::string_view digits(value.begin, size);
  return digits == "0" || digits == "-0" || (size > 3 && digits.substr(size - 3) == "000");
}

}  // namespace

std::string_view EventTable::text_of(const Value& value, std::string& room) const {
  const std::string_view text(value.begin, static_cast<size_t>(value.end - value.begin));
  if (!escapes_ || std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
  room.clear();
  append_unescaped(room, value.begin, value.end);
  return room;
}

void EventTable::add(const Event& event, bool escapes) {
  escapes_ = escapes;
  if (kind.size() >= kMaxRows) throw std::length_error("more events than fit a trace");
  any_start |= event.has(Key::start);
  const bool plain = event.has(Key::category) && event[Key::category].form == Value::string;
  const std::string_view category = plain ? text_of(event[Key::category], room_) : "";
  note(event, category);
  if (!event.has(Key::phase) || event[Key::phase].form != Value::string) return;
  const std::string_view phase = text_of(event[Key::phase], other_room_);
  if (phase == "E") return add_end(event);
  if (phase != "X" && phase != "B") return;
  const bool begin = phase == "B";
  const Kind of = event.has(Key::category) && !plain ? Kind::unknown : kind_of(category);
  // The Kelvin sign becomes a k, and a category with it one that is known.
  odd_letters |= of == Kind::unknown && category.find("\xe2\x84\xaa") != std::string_view::npos;
  if (!begin) {
    for (const Key key : {Key::start, Key::duration}) {
      if (!event.has(key)) continue;
      any_time = true;
      whole_thousands = whole_thousands && whole_thousand(event[key]);
    }
  }
  if (begin || is_row(of)) {
    add_row(event, of, begin);
  } else if (of == Kind::unknown) {
    const uint32_t code = categories.code_of(event[Key::category].token());
    if (code == category_counts.size()) category_counts.push(0);
    ++category_counts[code];
  }
}

void EventTable::note(const Event& event, std::string_view category) {
  if (!event.has(Key::name) || event[Key::name].form != Value::string) return;
  const std::string_view name = text_of(event[Key::name], other_room_);
  if (!(hip_calls && cuda_calls) && names_vendor(category)) {
    hip_calls |= name.substr(0, 3) == "hip";
    cuda_calls |= name.substr(0, 3) == "cud";
  }
  if (name == "process_name") {
    process_names.append(event.begin, static_cast<size_t>(event.end - event.begin));
    process_names.push('\0');
  }
}

void EventTable::add_row(const Event& event, Kind of, bool begin) {
  const auto row = static_cast<uint32_t>(kind.size());
  kind.push(static_cast<uint8_t>(of));
  if (begin) begins.push(row);
  const Value* called = event.has(Key::name) ? &event[Key::name] : nullptr;
  if (called != nullptr && called->form != Value::string) {
    name.push(-1);
    odd_value(Key::name, row, *called);
  } else {
    const std::string_view text = called == nullptr ? "" : text_of(*called, other_room_);
    name.push(static_cast<int32_t>(names.code_of(text)));
  }
  time(event, Key::start, kAbsent, start_ns);
  if (begin && of == Kind::unknown) {
    length_ns.push(tokens.code_of(event[Key::category].token()));
  } else {
    time(event, Key::duration, 0, length_ns);
  }
  identity(event, Key::process, process);
  identity(event, Key::thread, thread);
  unsigned_id(event, row);
  if (is_row(of)) add_arguments(event, of, row);
}

void EventTable::add_end(const Event& event) {
  ends.push(static_cast<uint32_t>(kind.size()));
  kind.push(static_cast<uint8_t>(Kind::end));
  name.push(-1);
  time(event, Key::start, kAbsent, start_ns);
  length_ns.push(0);
  identity(event, Key::process, process);
  identity(event, Key::thread, thread);
  correlation.push(0);
}

void EventTable::add_arguments(const Event& event, Kind of, uint32_t row) {
  if (on_device(of)) {
    sparse(event, Key::device, row, device);
    sparse(event, Key::stream, row, stream);
  }
  if (of == Kind::api) {  // of our exports: torch.profiler knows neither
    sparse(event, Key::call_device, row, device);
    sparse(event, Key::call_stream, row, stream);
  }
  if (of == Kind::sync) {
    sparse(event, Key::wait_stream, row, wait_stream);
    if (event.has(Key::wait_correlation)) {
      const Value& value = event[Key::wait_correlation];
      uint64_t id = 0;
      if (plain_unsigned(value, id)) {
        wait_correlation.push(row, id);
      } else {
        odd_value(Key::wait_correlation, row, value);
      }
    }
  }
  if (is_op(of)) {
    const bool zero = event.has(Key::graph) && event[Key::graph].token() == "0";
    if (!zero) sparse(event, Key::graph, row, graph);
    sparse(event, event.has(Key::hsa_queue) ? Key::hsa_queue : Key::queue, row, queue);
  }
  if (of == Kind::memcpy || of == Kind::memset || of == Kind::api) {
    sparse(event, event.has(Key::bytes) ? Key::bytes : Key::size, row, bytes);
  }
  if ((of == Kind::memcpy || of == Kind::api) && event.has(Key::kind)) {
    copy_kind.push(row, tokens.code_of(event[Key::kind].token()));
  }
}

void EventTable::time(const Event& event, Key key, int64_t missing, Column<int64_t>& column) {
  if (!event.has(key)) return column.push(missing);
  const Value& value = event[key];
  int64_t found = kAbsent;
  if (!plain_nanoseconds(value, found)) {
    found = kAbsent;
    odd_value(key, static_cast<uint32_t>(column.size()), value);
  }
  column.push(found);
}

void EventTable::identity(const Event& event, Key key, Column<int64_t>& column) {
  int64_t number = kAbsent;
  if (event.has(key) && !plain_integer(event[key], number)) {
    number = kAbsent;
    odd_value(key, static_cast<uint32_t>(column.size()), event[key]);
  }
  column.push(number);
}

void EventTable::sparse(const Event& event, Key key, uint32_t row, Sparse<int64_t>& column) {
  if (!event.has(key)) return;
  int64_t number = 0;
  if (plain_integer(event[key], number)) {
    column.push(row, number);
  } else {
    odd_value(key, row, event[key]);
  }
}

void EventTable::unsigned_id(const Event& event, uint32_t row) {
  uint64_t id = 0;
  if (event.has(Key::correlation)) {
    const Value& value = event[Key::correlation];
    if (!plain_unsigned(value, id)) {
      id = 0;
      odd_value(Key::correlation, row, value);
    }
  }
  correlation.push(id);
}

void EventTable::odd_value(Key key, uint32_t row, const Value& value) {
  odd[static_cast<size_t>(key)].push(row, tokens.code_of(value.token()));
}

}  // namespace overlap_native
