// Where the records go: one buffer a thread, merged when they are taken.
#pragma once

#include <cstdint>
#include <string>

#include "hip_host/recorder.h"

namespace hip_host::detail {

int64_t now_ns();
int32_t thread_id();
uint64_t next_correlation_id();

/// The session that records now, 0 when off. A record is kept if its session still is the newest.
uint64_t recording_session();
void keep(const ApiRecord& record, uint64_t session);
void keep(const OpRecord& record, uint64_t session);
void keep(const RangeRecord& record, uint64_t session);

/// The number of the calling thread's stack, 0 where nobody tells.
uint32_t current_stack();

/// One copy of each name, never freed: records hold pointers.
const std::string* intern(const char* name);

}  // namespace hip_host::detail
