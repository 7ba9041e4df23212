// Events as columns, in the order of the file, with what no column holds beside them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "categories.h"
#include "column.h"
#include "event_reader.h"
#include "interned.h"

namespace overlap_native {

/// What stands for "absent" in every 64-bit column.
constexpr int64_t kAbsent = INT64_MIN;

/// A value that few rows have.
template <class Number>
struct Sparse {
  Column<uint32_t> row;
  Column<Number> value;

  void push(uint32_t at, Number number) {
    row.push(at);
    value.push(number);
  }
  void append(const Sparse& other, uint32_t first_row) {
    for (size_t i = 0; i < other.row.size(); ++i) push(other.row[i] + first_row, other.value[i]);
  }
  void clear() {
    row.clear();
    value.clear();
  }
};

/// The codes that the texts of one table have in another.
struct TableCodes {
  Column<uint32_t> names, tokens;
  void clear() {
    names.clear();
    tokens.clear();
  }
};

class EventTable {
 public:
  void add(const Event& event, bool escapes);
  /// Add all of another table behind this one's rows. `codes` knows those of its texts that were
  /// added before, and learns the others.
  void append(const EventTable& other, TableCodes& codes);
  /// Drop all but the texts of names and tokens.
  void clear();
  /// Drop these too.
  void clear_texts();
  /// A file has this many rows at most; raises `std::length_error` beyond.
  static constexpr size_t kMaxRows = UINT32_MAX - 1;

  // One entry per row.
  Column<uint8_t> kind;
  Column<int32_t> name;  // -1: an odd one
  Column<int64_t> start_ns;
  Column<int64_t> length_ns;  // for a begin of an unknown category: its token
  Column<int64_t> process;
  Column<int64_t> thread;
  Column<uint64_t> correlation;

  // Of rows that have them.
  Sparse<int64_t> device, stream, wait_stream, bytes, graph, queue;
  Sparse<uint64_t> wait_correlation;
  Sparse<uint32_t> copy_kind;  // a token
  /// Per key the rows whose value is no plain number, each with its token. What these mean is for
  /// Python to say, once for each distinct one.
  std::array<Sparse<uint32_t>, kKeys> odd;
  Column<uint32_t> begins, ends;  // rows that are one part of an event of two

  Interned names;
  Interned tokens;      // as JSON
  Interned categories;  // as JSON, those of complete events of unknown kind
  Column<uint64_t> category_counts;
  Column<char>
      process_names;       // events that name a process, as JSON, each with a line break behind it
  bool hip_calls = false;  // some runtime call is named hip..., or cud...
  bool cuda_calls = false;
  bool any_start = false;       // some event has a "ts", of whatever phase
  bool any_time = false;        // some complete event has a "ts" or "dur"
  bool whole_thousands = true;  // and all of these are integers that 1000 divides
  bool odd_letters = false;     // a category that lower case turns into another alphabet's

 private:
  void append_odd(const EventTable& other, const TableCodes& codes);
  void append_notes(const EventTable& other);
  void add_row(const Event& event, Kind kind, bool begin);
  void add_end(const Event& event);
  void add_arguments(const Event& event, Kind kind, uint32_t row);
  void note(const Event& event, std::string_view category);
  void time(const Event& event, Key key, int64_t missing, Column<int64_t>& column);
  void identity(const Event& event, Key key, Column<int64_t>& column);
  void sparse(const Event& event, Key key, uint32_t row, Sparse<int64_t>& column);
  void unsigned_id(const Event& event, uint32_t row);
  void odd_value(Key key, uint32_t row, const Value& value);
  std::string_view text_of(const Value& value, std::string& room) const;

  std::string room_, other_room_;
  bool escapes_ = false;
};

}  // namespace overlap_native
