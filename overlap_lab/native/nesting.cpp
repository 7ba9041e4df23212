#include "nesting.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "threads.h"

namespace overlap_native {

namespace {

using Lane = std::tuple<int32_t, int64_t, uint8_t>;

constexpr size_t kGrain = 1 << 18;

/// The ends of the rows that are open, of each lane; those of lanes that take turns are at hand.
class OpenEnds {
 public:
  std::vector<int64_t>& of(const Lane& lane) {
    const auto& [process, thread, kind] = lane;
    const uint64_t mixed =
        (static_cast<uint64_t>(thread) * 31 + static_cast<uint32_t>(process)) * 32 + kind;
    Recent& recent = recent_[mixed * 0x9e3779b97f4a7c15ULL >> 58];
    if (recent.open == nullptr || recent.lane != lane) recent = {lane, &all_[lane]};
    return *recent.open;
  }

 private:
  struct Recent {
    Lane lane;
    std::vector<int64_t>* open = nullptr;
  };
  std::map<Lane, std::vector<int64_t>> all_;
  std::array<Recent, 64> recent_;
};

}  // namespace

void nesting_depth(const HostRows& rows, uint32_t kinds, int32_t* depth) {
  // Most of the time is the system's, which clears a new array's pages where they are first
  // touched.
  for_parts(rows.size, kGrain,
            [depth](size_t begin, size_t end) { std::fill(depth + begin, depth + end, 0); });
  OpenEnds open_ends;
  for (size_t row = 0; row < rows.size; ++row) {
    const uint8_t kind = rows.kind[row];
    if (kind >= 32 || (kinds >> kind & 1) == 0) continue;
    std::vector<int64_t>& open = open_ends.of({rows.process[row], rows.thread[row], kind});
    const int64_t start = rows.start_ns[row], end = rows.end_ns[row];
    while (!open.empty() && (open.back() <= start || open.back() < end)) open.pop_back();
    depth[row] = static_cast<int32_t>(open.size());
    open.push_back(end);
  }
}

}  // namespace overlap_native
