#include "long_members.h"

#include "event_keys.h"
#include "value_reader.h"

namespace overlap_native {

namespace {

constexpr size_t kLargest = size_t{1} << 31;  // offsets of quotes have 32 bits

class MembersReader : public ValueReader {
 public:
  using ValueReader::ValueReader;

  Outcome read(const char* text, size_t least, LongMembers& found) {
    begin(text);
    const char* end = object(text, kElsewhere, 0, [&](const char* from, KeyCode) {
      const uint32_t before = repaired_;
      Value unused;
      const char* to = value(from, 0, unused);
      if (to == nullptr || static_cast<size_t>(to - from) < least) return to;
      found.values.push_back({static_cast<size_t>(from - text), static_cast<size_t>(to - text),
                              repaired_ - before + (constant_ ? 1 : 0)});
      constant_ = false;
      return to;
    });
    const Outcome outcome = outcome_of(text, end);
    return outcome == Outcome::whole && blank(end) < this->end() ? Outcome::broken : outcome;
  }
};

}  // namespace

bool long_members(const char* text, size_t size, size_t least, Path path, LongMembers& found) {
  if (size == 0 || size > kLargest || *text != '{') return false;
  Structure structure;
  scan(text, size, /*last=*/true, path, structure);
  if (!structure.utf8) return false;
  KeyOrders orders(event_key, static_cast<PlaceCode>(Place::count));
  MembersReader reader(orders);
  reader.start(text, size, structure);
  return reader.read(text, least, found) == Outcome::whole;
}

}  // namespace overlap_native
