#include "event_parts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "threads.h"

namespace overlap_native {

namespace {

constexpr uint64_t kNowhere = UINT64_MAX;
constexpr size_t kRead = 1 << 18;   // read at once: it stays in a core's own cache
constexpr size_t kLookBack = 256;   // bytes before a part in which the end before it is looked for
constexpr size_t kSlack = 1 << 11;  // bytes behind a part that are read with it
constexpr size_t kFewTexts = 1 << 16;  // that a part parser keeps for its next part
constexpr size_t kPartsAhead = 1;      // per thread, that may wait for those before them
constexpr auto kPatience = std::chrono::milliseconds(10);

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Whether the object at `at` looks like an event in a list of events, and not the first one.
bool looks_like_event(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 7> kFirst = {"\"ph\"",  "\"cat\"", "\"name\"", "\"pid\"",
                                                      "\"tid\"", "\"ts\"",  "\"args\""};
  size_t before = at;
  while (before > 0 && is_blank(text[before - 1])) --before;
  if (before == 0 || text[--before] != ',') return false;
  while (before > 0 && is_blank(text[before - 1])) --before;
  if (before == 0 || text[before - 1] != '}') return false;
  size_t behind = at + 1;
  while (behind < text.size() && is_blank(text[behind])) ++behind;
  const std::string_view key = text.substr(behind, kLookBack);
  return std::any_of(kFirst.begin(), kFirst.end(), [key](std::string_view first) {
    return key.substr(0, first.size()) == first;
  });
}

/// One part: a parser with its text, used again and again.
class Part {
 public:
  explicit Part(Path path) : parser_(path) {}

  /// Read what begins in [begin, end); `behind_comma`: not the first of the list.
  void read(EventText& text, uint64_t begin, uint64_t end, bool behind_comma, const Stop& stop);
  /// As above from the first place in [begin, end) that looks like an event.
  void read_guessed(EventText& text, uint64_t begin, uint64_t end, const Stop& stop);
  /// Add what was read.
  void append_to(EventParser& all) {
    all.append(parser_, codes_);
    if (parser_.table.names.size() + parser_.table.tokens.size() > kFewTexts) forget_texts();
  }
  /// What was read is not to be added.
  void drop() { forget_texts(); }

  uint64_t begin() const { return begin_; }
  /// Behind the last item read.
  uint64_t used() const { return used_; }
  /// Where the item behind the last one begins; kNowhere where that is not known.
  uint64_t next() const { return next_; }
  bool any() const { return used_ != begin_; }

  size_t index = 0;

 private:
  void feed(EventText& text, uint64_t end, const Stop& stop);
  void forget_texts() {
    parser_.table.clear_texts();
    codes_.clear();
  }

  EventParser parser_;
  TableCodes codes_;
  Column<char> text_;
  uint64_t begin_ = kNowhere, used_ = kNowhere, next_ = kNowhere;
};

void Part::read(EventText& text, uint64_t begin, uint64_t end, bool behind_comma,
                const Stop& stop) {
  begin_ = used_ = begin;
  next_ = kNowhere;
  parser_.restart(behind_comma);
  text_.clear();
  if (begin != kNowhere) feed(text, end, stop);
}

void Part::read_guessed(EventText& text, uint64_t begin, uint64_t end, const Stop& stop) {
  const uint64_t from = begin - std::min<uint64_t>(begin, kLookBack);
  text_.hold(kRead);
  const size_t wanted = std::min<uint64_t>(kRead, end - from + kLookBack);
  const std::string_view seen(text_.data(), text.read(from, text_.data(), wanted));
  uint64_t guess = kNowhere;
  for (size_t at = seen.find('{', begin - from); at < seen.size(); at = seen.find('{', at + 1)) {
    if (!looks_like_event(seen, at)) continue;
    guess = from + at;
    break;
  }
  read(text, guess < end ? guess : kNowhere, end, /*behind_comma=*/true, stop);
}

void Part::feed(EventText& text, uint64_t end, const Stop& stop) {
  uint64_t offset = begin_;  // of the text's first byte in the file
  while (parser_.state() == State::reading && !stop.asked()) {
    const uint64_t known = offset + text_.size();
    const uint64_t rest = end - std::min(end, known) + kSlack;  // its last event may end behind it
    // Twice as much of an event that is longer than all that.
    const size_t wanted = std::max<uint64_t>(text_.size(), std::min<uint64_t>(kRead, rest));
    text_.hold(text_.size() + wanted);
    const size_t more = text.read(known, text_.data() + text_.size(), wanted);
    if (more == 0) break;
    text_.set_size(text_.size() + more);
    // An item that began before the end may have ended behind it, exactly where the text did.
    const uint64_t limit = end - std::min(end, offset);
    const size_t used = parser_.parse(text_.data(), text_.size(), /*last=*/false, limit);
    if (parser_.state() == State::reached) next_ = offset + parser_.next_event();
    const size_t left = text_.size() - used;
    std::memmove(text_.data(), text_.data() + used, left);
    text_.set_size(left);
    offset += used;
  }
  used_ = offset;
}

/// The parts of a text: handed out in order, and added in order.
class Parts {
 public:
  Parts(EventText& text, uint64_t begin, const PartSize& size, EventParser& into)
      : text_(text), begin_(begin), size_(size), into_(into), next_item_(begin), used_(begin) {
    for (size_t i = 0; i < size.threads * (1 + kPartsAhead); ++i) {
      free_.push_back(std::make_unique<Part>(into.path()));
    }
  }

  void work(const Stop& stop) {
    while (std::unique_ptr<Part> part = taken(stop)) {
      read(*part, stop);
      hand_in(std::move(part), stop);
    }
  }
  uint64_t used() const { return used_; }

 private:
  uint64_t begin_of(size_t part) const { return begin_ + part * size_.bytes; }
  uint64_t end_of(size_t part) const { return begin_of(part + 1); }

  std::unique_ptr<Part> taken(const Stop& stop);
  void read(Part& part, const Stop& stop);
  void hand_in(std::unique_ptr<Part> part, const Stop& stop);
  void add(Part& part, const Stop& stop);

  EventText& text_;
  const uint64_t begin_;
  const PartSize size_;
  EventParser& into_;

  std::mutex mutex_;  // over all below but what only the adding thread touches
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Part>> free_;
  std::map<size_t, std::unique_ptr<Part>> read_;  // and wait to be added
  size_t next_taken_ = 0;
  size_t next_added_ = 0;
  bool adding_ = false;  // by some thread
  bool done_ = false;

  uint64_t next_item_;  // where the first item begins that was not added
  uint64_t used_;       // behind the last item that was
};

/// The next part to read; none where there are no more.
std::unique_ptr<Part> Parts::taken(const Stop& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (stop.asked() || done_) return nullptr;
    if (!free_.empty()) break;
    changed_.wait_for(lock, kPatience);
  }
  std::unique_ptr<Part> part = std::move(free_.back());
  free_.pop_back();
  part->index = next_taken_++;
  return part;
}

void Parts::read(Part& part, const Stop& stop) {
  uint64_t known = kNowhere;
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (part.index == next_added_ && !adding_) {
      known = next_item_;
      first = into_.first();  // blanks before the first item may be longer than parts
    }
  }
  const uint64_t end = end_of(part.index);
  if (known == kNowhere) {
    part.read_guessed(text_, begin_of(part.index), end, stop);
  } else if (known < end) {
    part.read(text_, known, end, /*behind_comma=*/!first, stop);
  }
}

/// Adds the part, or leaves that to the thread that is adding those before it.
void Parts::hand_in(std::unique_ptr<Part> part, const Stop& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  const size_t index = part->index;
  read_[index] = std::move(part);
  if (adding_) return;
  adding_ = true;
  for (auto at = read_.find(next_added_); at != read_.end(); at = read_.find(next_added_)) {
    std::unique_ptr<Part> next = std::move(at->second);
    read_.erase(at);
    lock.unlock();
    if (!stop.asked()) add(*next, stop);
    lock.lock();
    const uint64_t kept = std::min(used_, begin_of(next_added_));
    text_.let_go(kept - std::min<uint64_t>(kept, kLookBack));
    ++next_added_;
    done_ |= next_item_ == kNowhere;
    free_.push_back(std::move(next));
    changed_.notify_all();
  }
  adding_ = false;
}

void Parts::add(Part& part, const Stop& stop) {
  const uint64_t end = end_of(part.index);
  if (next_item_ == kNowhere) return part.drop();  // the list is at its end, or damaged
  if (next_item_ >= end) return part.drop();       // inside an event that began before
  if (part.begin() != next_item_) {
    part.drop();
    part.read(text_, next_item_, end, /*behind_comma=*/!into_.first(), stop);
    ++into_.parts.again;
  }
  if (stop.asked()) return;
  part.append_to(into_);
  ++into_.parts.count;
  into_.parts.longest = std::max(into_.parts.longest, part.used() - part.begin());
  if (part.any()) used_ = part.used();
  next_item_ = part.next();
}

}  // namespace

uint64_t parse_parts(EventText& text, uint64_t begin, const PartSize& size, EventParser& into,
                     const std::function<void()>& interrupted) {
  Parts parts(text, begin, size, into);
  const std::vector<Task> tasks(std::max<size_t>(size.threads, 1),
                                [&parts](const Stop& stop) { parts.work(stop); });
  run_tasks(tasks, interrupted);
  return parts.used() - begin;
}

}  // namespace overlap_native
