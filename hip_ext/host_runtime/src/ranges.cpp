#include <vector>

#include "hip_host/roctx.h"
#include "recording.h"

namespace hip_host::detail {
namespace {

struct OpenRange {
  const std::string* name;  // nullptr: begun while nothing was recorded
  int64_t start_ns;
  uint64_t session;
};

std::vector<OpenRange>& open_ranges() {
  thread_local std::vector<OpenRange> open;
  return open;
}

}  // namespace
}  // namespace hip_host::detail

using namespace hip_host::detail;

extern "C" {

int roctxRangePushA(const char* message) {
  auto& open = open_ranges();
  const uint64_t session = recording_session();
  OpenRange range = {nullptr, 0, session};
  if (session != 0) {
    range.name = intern(message == nullptr ? "" : message);
    range.start_ns = now_ns();
  }
  open.push_back(range);
  return static_cast<int>(open.size()) - 1;
}

int roctxRangePop() {
  auto& open = open_ranges();
  if (open.empty()) return -1;
  const OpenRange range = open.back();
  open.pop_back();
  if (range.name != nullptr) {
    keep(hip_host::RangeRecord{range.name, range.start_ns, now_ns(), thread_id()}, range.session);
  }
  return static_cast<int>(open.size());
}

}  // extern "C"
