// The keys of a Chrome trace's events that mean something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keys.h"

namespace overlap_native {

enum class Key : KeyCode {
  phase,
  category,
  name,
  process,
  thread,
  start,
  duration,
  // Of the arguments:
  correlation,
  device,
  stream,
  bytes,
  size,
  kind,
  graph,
  hsa_queue,
  queue,
  wait_stream,
  wait_correlation,
  call_stream,
  call_device,
  count,
  arguments,
  other = kOtherKey,
};

constexpr size_t kKeys = static_cast<size_t>(Key::count);

/// Where an object stands, which decides what its keys mean.
enum class Place : PlaceCode { elsewhere = kElsewhere, event, arguments, count };

KeyCode event_key(PlaceCode place, std::string_view key);

}  // namespace overlap_native
