#include "long_members.h"

#include "event_keys.h"
#include "value_reader.h"

namespace overlap_native {

namespace {

constexpr size_t kLargest = size_t{1} << 31;  // offsets of quotes have 32 bits

class MembersReader : public ValueReader {
 public:
  MembersReader(KeyOrders& orders, const Stop& stop) : ValueReader(orders), stop_(stop) {}

  Outcome read(const char* text, size_t least, LongMembers& found) {
    begin(text);
    const char* end = object(text, kElsewhere, 0, [&](const char* from, KeyCode) {
      const uint32_t before = repaired_;
      const char* to = any(from, 0);
      if (to == nullptr || static_cast<size_t>(to - from) < least) return to;
      found.values.push_back({static_cast<size_t>(from - text), static_cast<size_t>(to - text),
                              repaired_ - before + (constant_ ? 1 : 0)});
      constant_ = false;
      return to;
    });
    const Outcome outcome = outcome_of(text, end);
    return outcome == Outcome::whole && blank(end) < this->end() ? Outcome::broken : outcome;
  }

 private:
  /// As `value`, but looks up now and then whether to stop: one value can be half a gigabyte.
  const char* any(const char* at, unsigned depth) {
    constexpr uint32_t kBetweenLooks = 1 << 12;
    if (++values_ % kBetweenLooks == 0 && stop_.asked()) return fail(at);
    const auto inner = [&](const char* from) { return any(from, depth + 1); };
    if (peek(at) == '[') return array(at, depth + 1, inner);
    if (peek(at) == '{') {
      return object(at, kElsewhere, depth + 1,
                    [&](const char* from, KeyCode) { return inner(from); });
    }
    Value unused;
    return value(at, depth, unused);
  }

  const Stop& stop_;
  uint32_t values_ = 0;
};

}  // namespace

bool long_members(const char* text, size_t size, size_t least, Path path, LongMembers& found,
                  const Stop& stop) {
  if (size == 0 || size > kLargest || *text != '{') return false;
  Structure structure;
  scan(text, size, /*last=*/true, path, structure, &stop);
  if (!structure.utf8 || stop.asked()) return false;
  KeyOrders orders(event_key, static_cast<PlaceCode>(Place::count));
  MembersReader reader(orders, stop);
  reader.start(text, size, structure);
  return reader.read(text, least, found) == Outcome::whole;
}

}  // namespace overlap_native
