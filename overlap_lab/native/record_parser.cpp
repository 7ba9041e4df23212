#include "record_parser.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace overlap_native {

namespace {

constexpr size_t kPiece = 1 << 17;  // its quotes stay in the second-level cache
constexpr size_t kLargestPiece = size_t{1} << 30;
constexpr size_t kLongestOpening = 64;
constexpr std::string_view kRoot = "\"rocprofiler-sdk-tool\"";
constexpr std::string_view kKept[] = {"metadata", "agents", "strings"};

}  // namespace

RecordParser::RecordParser(WantedArguments wanted, Path path)
    : path_(path), wanted_(std::move(wanted)) {}

size_t RecordParser::wanted() const { return std::max(kPiece, held_); }

char* RecordParser::room(size_t size) {
  const size_t needed = held_ + size + KeyOrders::kSpelled;
  if (buffer_.size() < needed) buffer_.resize(needed);
  return buffer_.data() + held_;
}

bool RecordParser::read(size_t size, bool last) {
  held_ += size;
  if (!last && held_ < enough_) return plain_;
  room(0);  // the bytes behind the text are there also for none
  std::memset(buffer_.data() + held_, 0, KeyOrders::kSpelled);
  scan(buffer_.data(), held_, last, path_, structure_);
  plain_ = plain_ && structure_.utf8;
  const size_t used = plain_ ? parse(buffer_.data(), held_) : 0;
  held_ -= used;
  used_ += used;
  std::memmove(buffer_.data(), buffer_.data() + used, held_);
  enough_ = used == 0 ? 2 * held_ : 0;
  if (last) plain_ = plain_ && where_ == Where::end && held_ == 0;
  return plain_ && held_ < kLargestPiece;
}

void RecordParser::begin_in_list(bool callback) {
  callback_ = callback;
  where_ = Where::records;
  first_ = false;
  document.processes.emplace_back().lists.emplace_back().parts.push_back(
      std::make_unique<RecordTable>());
}

size_t RecordParser::parse(const char* text, size_t size) {
  reader_.start(text, size, structure_);
  const char* at = text;
  while (plain_) {
    if (where_ == Where::end && reader_.blank(at) >= reader_.end()) return size;
    const char* next = step(at);
    if (next == nullptr) break;
    at = next;
  }
  return static_cast<size_t>(at - text);
}

/// Reads one thing; returns its end, nullptr where more text is wanted.
const char* RecordParser::step(const char* at) {
  switch (where_) {
    case Where::start:
      return open_root(at);
    case Where::processes:
      return next_process(at);
    case Where::process:
      return next_section(at);
    case Where::lists:
      return next_list(at);
    case Where::records:
      return next_record(at);
    case Where::symbols:
      return next_symbol(at);
    case Where::behind:
      return close_root(at);
    case Where::end:
      break;
  }
  return fail(reader_.blank(at));
}

const char* RecordParser::fail(const char* at) {
  if (at < reader_.end()) plain_ = false;
  return nullptr;
}

/// Behind this character and the blank text around it.
const char* RecordParser::text(const char* at, char expected) {
  if (at == nullptr) return nullptr;
  at = reader_.blank(at);
  return reader_.peek(at) == expected ? reader_.blank(at + 1) : fail(at);
}

const char* RecordParser::whole(Outcome outcome, const char* end) {
  if (outcome == Outcome::broken) plain_ = false;
  return outcome == Outcome::whole ? end : nullptr;
}

/// Behind a key and its colon. Keys that are not written as they are meant are for Python.
const char* RecordParser::key(const char* at, std::string& found) {
  if (at == nullptr || reader_.peek(at) != '"') return at == nullptr ? at : fail(at);
  Value value;
  uint32_t repaired = 0;
  const Outcome outcome = reader_.pass(at, value, repaired);
  if (whole(outcome, at) == nullptr) return nullptr;
  plain_ = plain_ && reader_.unescaped(value);
  found.assign(value.begin, value.end);
  return text(at, ':');
}

/// Where the next item of a list or object begins; false where more text is wanted, or where the
/// list is closed: `at` is then behind it, and `outer` is read on.
bool RecordParser::next_item(const char*& at, char closing, Where outer) {
  const char* item = reader_.blank(at);
  const char found = reader_.peek(item);
  if (found == closing) {
    where_ = outer;
    first_ = false;
    at = item + 1;
    return false;
  }
  if (!first_ && found == ',') item = reader_.blank(item + 1);
  if (!first_ && found != ',') item = fail(item);
  if (item == nullptr || item >= reader_.end()) {
    at = nullptr;
    return false;
  }
  at = item;
  return true;
}

const char* RecordParser::open_root(const char* at) {
  at = text(at, '{');
  if (at == nullptr) return nullptr;
  std::string name;
  at = key(at, name);
  if (at == nullptr) return nullptr;
  if (name != kRoot.substr(1, kRoot.size() - 2)) return fail(at);
  at = text(at, '[');
  if (at == nullptr) return nullptr;
  where_ = Where::processes;
  first_ = true;
  return at;
}

const char* RecordParser::close_root(const char* at) {
  at = text(at, '}');
  if (at != nullptr) where_ = Where::end;
  return at;
}

const char* RecordParser::next_process(const char* at) {
  if (!next_item(at, ']', Where::behind)) return at;
  if (*at != '{') return fail(at);
  document.processes.emplace_back();
  where_ = Where::process;
  first_ = true;
  return at + 1;
}

const char* RecordParser::next_section(const char* at) {
  if (!next_item(at, '}', Where::processes)) return at;
  std::string name;
  at = key(at, name);
  if (at == nullptr || at >= reader_.end()) return nullptr;
  const bool symbols = name == "kernel_symbols" && *at == '[';
  const bool records = name == "buffer_records" || name == "callback_records";
  RecordProcess& process = document.processes.back();
  if (symbols || (records && *at == '{')) process.sections.emplace_back(name, "");
  if (records && *at == '{') {
    callback_ = name == "callback_records";
    where_ = Where::lists;
    first_ = true;
    return at + 1;
  }
  if (symbols) {
    process.symbols.push_back(std::make_unique<SymbolTable>());
    where_ = Where::symbols;
    first_ = true;
    return at + 1;
  }
  return section(at, std::move(name));
}

const char* RecordParser::section(const char* at, std::string key) {
  Value value;
  uint32_t repaired = 0;
  const char* end = at;
  const Outcome outcome = reader_.pass(end, value, repaired);
  if (whole(outcome, end) == nullptr) return nullptr;
  if (end >= reader_.end()) return nullptr;  // a number may go on
  plain_ = plain_ && repaired == 0 && key != "kernel_symbols";
  const bool kept = std::find(std::begin(kKept), std::end(kKept), key) != std::end(kKept);
  if (key == "buffer_records" || key == "callback_records") plain_ = false;
  std::string text = kept ? std::string(at, end) : std::string();
  document.processes.back().sections.emplace_back(std::move(key), std::move(text));
  first_ = false;
  return end;
}

const char* RecordParser::next_list(const char* at) {
  if (!next_item(at, '}', Where::process)) return at;
  std::string name;
  at = text(key(at, name), '[');
  if (at == nullptr) return nullptr;
  RecordList& list = document.processes.back().lists.emplace_back();
  list.callback = callback_;
  list.name = std::move(name);
  list.parts.push_back(std::make_unique<RecordTable>());
  where_ = Where::records;
  first_ = true;
  return at;
}

const char* RecordParser::next_record(const char* at) {
  if (!next_item(at, ']', Where::lists)) return at;
  if (*at != '{') return fail(at);
  const Outcome outcome = reader_.read(at, record_);
  const char* end = whole(outcome, record_.end);
  if (end == nullptr) return nullptr;
  if (first_) keep_opening(at);
  document.processes.back().lists.back().parts.back()->add(record_, reader_, wanted_);
  first_ = false;
  return end;
}

const char* RecordParser::next_symbol(const char* at) {
  if (!next_item(at, ']', Where::process)) return at;
  if (*at != '{') return fail(at);
  const Outcome outcome = reader_.read(at, symbol_);
  const char* end = whole(outcome, symbol_.end);
  if (end == nullptr) return nullptr;
  document.processes.back().symbols.back()->add(symbol_, reader_);
  first_ = false;
  return end;
}

void RecordParser::keep_opening(const char* at) {
  const auto* colon = static_cast<const char*>(std::memchr(at, ':', kLongestOpening));
  opening_.clear();
  if (colon != nullptr) opening_.assign(at, colon + 1);
}

}  // namespace overlap_native
