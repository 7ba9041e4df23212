#include "event_reader.h"

namespace overlap_native {

namespace {

constexpr uint32_t kArgumentBits =
    ((uint32_t{1} << kKeys) - 1) & ~((uint32_t{1} << static_cast<unsigned>(Key::correlation)) - 1);

}  // namespace

Outcome EventReader::read(const char* at, Event& event) {
  event.present = 0;
  event.has_arguments = false;
  event.begin = at;
  event.repaired = 0;
  begin(at);
  const bool constant = constant_;
  event.end = members(at, Place::event, 0, event);
  const Outcome outcome = outcome_of(at, event.end);
  if (outcome == Outcome::whole) event.repaired = repaired_;
  if (outcome != Outcome::whole) constant_ = constant;  // it will be read again
  return outcome;
}

const char* EventReader::members(const char* at, Place place, unsigned depth, Event& event) {
  return object(at, static_cast<PlaceCode>(place), depth, [&](const char* from, KeyCode key) {
    return member(from, static_cast<Key>(key), depth, event);
  });
}

const char* EventReader::member(const char* at, Key key, unsigned depth, Event& event) {
  Value unused;
  if (key == Key::other) return value(at, depth, unused);
  if (key == Key::arguments) return arguments(at, depth, event);
  const auto index = static_cast<unsigned>(key);
  event.present |= uint32_t{1} << index;
  return value(at, depth, event.values[index]);
}

const char* EventReader::arguments(const char* at, unsigned depth, Event& event) {
  event.present &= ~kArgumentBits;  // of arguments given twice the last count
  event.has_arguments = peek(at) == '{';
  if (event.has_arguments) return members(at, Place::arguments, depth + 1, event);
  Value unused;
  return value(at, depth, unused);
}

}  // namespace overlap_native
