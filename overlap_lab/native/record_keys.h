// The keys of rocprofv3's JSON that become columns, by the objects they stand in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keys.h"

namespace overlap_native {

enum class RecordKey : KeyCode {
  kind,
  operation,
  thread,
  start,
  end,
  correlation,
  kernel,
  agent,
  queue,
  stream,
  source,
  target,
  bytes,
  graph,
  handle,
  count,
  // Of arguments and of symbols: texts.
  argument_type,
  argument_name,
  argument_value,
  formatted_name,
  demangled_name,
  symbol_name,
  // Objects and lists that hold some of the above.
  correlation_id,
  dispatch_info,
  arguments,
  other = kOtherKey,
};

constexpr size_t kRecordKeys = static_cast<size_t>(RecordKey::count);

enum class RecordPlace : PlaceCode {
  elsewhere = kElsewhere,
  record,
  correlation_id,
  dispatch_info,
  handle,
  argument,
  symbol,
  count,
};

KeyCode record_key(PlaceCode place, std::string_view key);

}  // namespace overlap_native
