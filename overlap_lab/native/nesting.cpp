#include "nesting.h"

#include <map>
#include <tuple>
#include <vector>

namespace overlap_native {

namespace {

using Lane = std::tuple<int32_t, int64_t, uint8_t>;

}  // namespace

void nesting_depth(const HostRows& rows, uint32_t kinds, int32_t* depth) {
  std::map<Lane, std::vector<int64_t>> open_ends;
  Lane last_lane{};
  std::vector<int64_t>* open = nullptr;
  for (size_t row = 0; row < rows.size; ++row) {
    depth[row] = 0;
    const uint8_t kind = rows.kind[row];
    if (kind >= 32 || (kinds >> kind & 1) == 0) continue;
    const Lane lane{rows.process[row], rows.thread[row], kind};
    if (open == nullptr || lane != last_lane) {
      open = &open_ends[lane];
      last_lane = lane;
    }
    const int64_t start = rows.start_ns[row], end = rows.end_ns[row];
    while (!open->empty() && (open->back() <= start || open->back() < end)) open->pop_back();
    depth[row] = static_cast<int32_t>(open->size());
    open->push_back(end);
  }
}

}  // namespace overlap_native
