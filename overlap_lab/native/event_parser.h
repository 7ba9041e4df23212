// The list of events of a Chrome trace, read piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "event_keys.h"
#include "event_reader.h"
#include "event_table.h"
#include "structure.h"

namespace overlap_native {

enum class State : uint8_t {
  reading,   // wants more text
  stopped,   // what comes next is for another reader to judge
  reached,   // what comes next begins at the limit or behind it
  closed,    // read the bracket that closes the list
  not_utf8,  // some of the text was not UTF-8
};

/// How a text was shared out that was read in parts.
struct PartsUsed {
  uint64_t count = 0;
  uint64_t longest = 0;  // bytes
  uint64_t again = 0;    // parts that had begun at a wrong place, and were read twice
};

/// Starts behind the bracket that opens the list. Text is handed over in pieces; of each the part
/// up to the last whole event is used, and the next piece must begin where that part ended.
class EventParser {
 public:
  explicit EventParser(Path path) : path_(path), reader_(orders_) {}

  static constexpr size_t kNoLimit = SIZE_MAX;
  /// Read events; returns how many bytes were used. `last`: no text follows. No event is read that
  /// begins at `limit` or behind it.
  size_t parse(const char* text, size_t size, bool last, size_t limit = kNoLimit);
  /// Where the event begins that is the first one not read, once the limit is reached; in the text
  /// that was given last.
  size_t next_event() const { return next_event_; }

  /// Forget all events, to read a list from its start or from behind one of its commas.
  void restart(bool behind_comma);
  /// Add what another parser has read in the text that follows; `codes` is of its texts.
  void append(const EventParser& other, TableCodes& codes);

  /// Read one event that was not in the text as it is; False where it is no event.
  bool accept(std::string_view event);

  State state() const { return state_; }
  /// Whether no item was read yet.
  bool first() const { return first_; }
  Path path() const { return path_; }
  /// Read on behind an item that was judged elsewhere.
  void resume() {
    state_ = State::reading;
    first_ = false;
  }

  /// Whether only events are read that are not long, as where a damaged list is read on.
  bool lenient = false;
  /// Whether commas between events may be missing or too many.
  bool any_commas = false;
  /// Whether to count events with a replacement character in them.
  bool count_replaced = false;

  EventTable table;
  uint64_t events = 0;
  uint64_t repaired = 0;    // objects with repeated keys or NaN
  uint64_t replaced = 0;    // events with a replacement character
  uint64_t odd_commas = 0;  // events before which commas were missing or too many
  uint64_t skipped = 0;     // items that are no objects
  uint64_t longest = 0;     // bytes of the longest event
  uint64_t long_events = 0;
  PartsUsed parts;
  static constexpr uint64_t kLong = 1 << 16;
  /// Bytes scanned at once: their quotes stay in the second-level cache.
  static constexpr size_t kPiece = 1 << 17;
  /// No event is longer: offsets within a piece have 32 bits.
  static constexpr size_t kLargestPiece = size_t{1} << 31;

 private:
  size_t parse_piece(const char* text, size_t size, bool last, size_t limit);
  /// What stands before an item.
  struct Gap {
    const char* end;
    bool comma;
    bool odd = false;  // not as between two items of a list
  };

  const char* item(const char* from, bool last);
  Gap comma_at(const char* at) const;
  Gap any_gap(const char* at) const;
  Outcome event(const char* begin, const char*& end, bool last);
  Outcome other_item(const char*& end);
  const char* stop(const char* at);
  void keep(const Event& event);

  Path path_;
  KeyOrders orders_{event_key, static_cast<PlaceCode>(Place::count)};
  EventReader reader_;
  Structure structure_;
  Event event_;
  std::string padded_;
  State state_ = State::reading;
  size_t piece_ = kPiece;  // larger where an event is
  const char* piece_text_ = nullptr;
  size_t piece_limit_ = kNoLimit;
  size_t next_event_ = 0;
  bool first_ = true;
  bool behind_comma_ = false;  // the comma before the first item was read
};

}  // namespace overlap_native
