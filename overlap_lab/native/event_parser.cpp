#include "event_parser.h"

#include <algorithm>
#include <cstring>

namespace overlap_native {

namespace {

constexpr size_t kMargin = 64;  // bytes behind a piece that may be looked at

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What Python has for blank beside what JSON has.
bool is_odd_blank(char c) { return c == '\v' || c == '\f' || (c >= 0x1c && c <= 0x1f); }

bool follows_event(char c) {
  return c == ',' || c == ']' || c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

bool has_replacement(const char* begin, const char* end) {
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  if (text.find("\xef\xbf\xbd") != std::string_view::npos) return true;
  for (size_t at = text.find("\\u"); at != std::string_view::npos; at = text.find("\\u", at + 2)) {
    std::string code(text.substr(at + 2, 4));
    std::transform(code.begin(), code.end(), code.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    if (code == "fffd") return true;
  }
  return false;
}

}  // namespace

size_t EventParser::parse(const char* text, size_t size, bool last, size_t limit) {
  size_t used = 0;
  while (state_ == State::reading) {
    const size_t left = size - used;
    const bool all = left <= piece_ + kMargin;
    if (all && !last && left <= kMargin) break;
    const size_t piece_limit = limit == kNoLimit ? kNoLimit : limit - std::min(limit, used);
    size_t step = 0;
    if (all && last) {
      padded_.assign(text + used, left);
      padded_.append(kMargin, '\0');
      step = parse_piece(padded_.data(), left, true, piece_limit);
    } else {
      step = parse_piece(text + used, all ? left - kMargin : piece_, false, piece_limit);
    }
    if (state_ == State::reached) next_event_ += used;
    used += step;
    if (step == 0 && piece_ == kLargestPiece) state_ = State::stopped;
    piece_ = step == 0 ? std::min(std::max(piece_, left), kLargestPiece) : kPiece;
    if (all) break;
  }
  return used;
}

size_t EventParser::parse_piece(const char* text, size_t size, bool last, size_t limit) {
  scan(text, size, last, path_, structure_);
  if (!structure_.utf8) {
    state_ = State::not_utf8;
    return 0;
  }
  reader_.start(text, size, structure_);
  piece_text_ = text;
  piece_limit_ = limit;
  const char* at = text;
  while (const char* next = item(at, last)) {
    at = next;
    if (state_ != State::reading) break;
  }
  return static_cast<size_t>(at - text);
}

/// Reads one item with the comma before it; returns its end, nullptr where more text is wanted.
const char* EventParser::item(const char* from, bool last) {
  const char* at = reader_.blank(from);  // so that blanks without an end take no memory
  const Gap gap = any_commas ? any_gap(at) : comma_at(at);
  const char* begin = gap.end;
  if (begin >= reader_.end()) return last ? stop(at) : at == from ? nullptr : at;
  const bool may_close = any_commas ? begin == reader_.blank(at) : !gap.comma;
  const bool may_follow = any_commas || gap.comma != first_;
  if (*begin == ']' && may_close) {
    state_ = State::closed;
    return begin + 1;
  }
  if (*begin == ']' || !may_follow || (lenient && *begin != '{')) return stop(at);
  if (static_cast<size_t>(begin - piece_text_) >= piece_limit_) {
    next_event_ = static_cast<size_t>(begin - piece_text_);
    state_ = State::reached;
    return at;
  }
  const char* end = begin;
  const Outcome outcome = *begin == '{' ? event(begin, end, last) : other_item(end);
  if (outcome == Outcome::whole) {
    odd_commas += gap.odd ? 1 : 0;
    return end;
  }
  return outcome == Outcome::cut && !last ? nullptr : stop(at);
}

EventParser::Gap EventParser::comma_at(const char* at) const {
  at = reader_.blank(at);
  if (behind_comma_) return {at, true};
  if (reader_.peek(at) != ',') return {at, false};
  return {reader_.blank(at + 1), true};
}

EventParser::Gap EventParser::any_gap(const char* at) const {
  size_t commas = 0;
  bool odd = false;
  for (; at < reader_.end(); ++at) {
    if (*at == ',') {
      ++commas;
    } else if (is_odd_blank(*at)) {
      odd = true;
    } else if (!is_blank(*at)) {
      break;
    }
  }
  return {at, commas != 0, odd || commas != (first_ ? 0 : 1)};
}

Outcome EventParser::event(const char* begin, const char*& end, bool last) {
  const Outcome outcome = reader_.read(begin, event_);
  if (outcome != Outcome::whole) return outcome;
  end = event_.end;
  if (end >= reader_.end() && !last) return Outcome::cut;
  if (end < reader_.end() && !follows_event(*end)) return Outcome::broken;
  if (lenient && static_cast<uint64_t>(end - begin) >= kLong) return Outcome::broken;
  keep(event_);
  return Outcome::whole;
}

Outcome EventParser::other_item(const char*& end) {
  uint32_t mended = 0;
  const Outcome outcome = reader_.pass(end, mended);
  if (outcome != Outcome::whole) return outcome;
  first_ = behind_comma_ = false;
  ++skipped;
  repaired += mended;
  return outcome;
}

const char* EventParser::stop(const char* at) {
  state_ = State::stopped;
  return at;
}

void EventParser::keep(const Event& event) {
  const auto size = static_cast<uint64_t>(event.end - event.begin);
  first_ = behind_comma_ = false;
  ++events;
  longest = std::max(longest, size);
  long_events += size >= kLong ? 1 : 0;
  repaired += event.repaired;
  if (count_replaced && has_replacement(event.begin, event.end)) ++replaced;
  table.add(event, structure_.escapes);
}

void EventParser::restart(bool behind_comma) {
  table.clear();
  events = repaired = replaced = odd_commas = skipped = longest = long_events = 0;
  state_ = State::reading;
  piece_ = kPiece;
  first_ = !behind_comma;
  behind_comma_ = behind_comma;
}

void EventParser::append(const EventParser& other, TableCodes& codes) {
  table.append(other.table, codes);
  events += other.events;
  repaired += other.repaired;
  replaced += other.replaced;
  skipped += other.skipped;
  longest = std::max(longest, other.longest);
  long_events += other.long_events;
  first_ = first_ && other.first_;
  if (other.state_ == State::closed) state_ = State::closed;
}

bool EventParser::accept(std::string_view text) {
  padded_.assign(text);
  padded_.append(kMargin, '\0');
  scan(padded_.data(), text.size(), /*last=*/true, path_, structure_);
  reader_.start(padded_.data(), text.size(), structure_);
  if (text.empty() || text[0] != '{' || reader_.read(padded_.data(), event_) != Outcome::whole)
    return false;
  if (static_cast<size_t>(event_.end - event_.begin) != text.size()) return false;
  keep(event_);
  return true;
}

}  // namespace overlap_native
