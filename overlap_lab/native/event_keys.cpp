#include "event_keys.h"

#include <array>
#include <utility>

namespace overlap_native {

namespace {

using Named = std::pair<std::string_view, Key>;

constexpr std::array<Named, 8> kEventKeys{{
    {"ph", Key::phase},
    {"cat", Key::category},
    {"name", Key::name},
    {"pid", Key::process},
    {"tid", Key::thread},
    {"ts", Key::start},
    {"dur", Key::duration},
    {"args", Key::arguments},
}};
constexpr std::array<Named, 13> kArgumentKeys{{
    {"correlation", Key::correlation},
    {"device", Key::device},
    {"stream", Key::stream},
    {"bytes", Key::bytes},
    {"size", Key::size},
    {"kind", Key::kind},
    {"graph id", Key::graph},
    {"hsa_queue", Key::hsa_queue},
    {"queue", Key::queue},
    {"wait_on_stream", Key::wait_stream},
    {"wait_on_cuda_event_record_corr_id", Key::wait_correlation},
    {"call_stream", Key::call_stream},
    {"call_device", Key::call_device},
}};

template <size_t size>
KeyCode found_in(const std::array<Named, size>& table, std::string_view key) {
  for (const Named& entry : table) {
    if (entry.first == key) return static_cast<KeyCode>(entry.second);
  }
  return kOtherKey;
}

}  // namespace

KeyCode event_key(PlaceCode place, std::string_view key) {
  const bool of_event = place == static_cast<PlaceCode>(Place::event);
  return of_event ? found_in(kEventKeys, key) : found_in(kArgumentKeys, key);
}

}  // namespace overlap_native
