#include "gather.h"

#include <algorithm>
#include <tuple>

#include "threads.h"

namespace overlap_native {

Column<uint32_t> places_of(const uint32_t* order, size_t size) {
  Column<uint32_t> places;
  places.hold(std::max<size_t>(size, 1));
  places.set_size(size);
  for_parts(size, kGatherGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) places[order[i]] = static_cast<uint32_t>(i);
  });
  return places;
}

Column<uint32_t> time_order(const TimedRows& rows, const int64_t* by_start, size_t size) {
  Column<uint32_t> order;
  order.hold(std::max<size_t>(size, 1));
  order.set_size(size);
  const auto start = [&](size_t place) { return rows.start_ns[by_start[place]]; };
  const auto before = [&](uint32_t left, uint32_t right) {
    return std::make_tuple(rows.end_ns[right], rows.rank[rows.kind[left]], left) <
           std::make_tuple(rows.end_ns[left], rows.rank[rows.kind[right]], right);
  };
  for_parts(size, kGatherGrain, [&](size_t begin, size_t end) {
    // Ties across an edge belong to the part in which they begin.
    while (begin != 0 && begin < size && start(begin) == start(begin - 1)) ++begin;
    while (end < size && start(end) == start(end - 1)) ++end;
    size_t tie = begin;
    for (size_t i = begin; i < end; ++i) {
      order[i] = static_cast<uint32_t>(by_start[i]);
      if (start(i) == start(tie) && i + 1 != end) continue;
      const size_t stop = start(i) == start(tie) ? i + 1 : i;
      if (stop - tie > 1) std::sort(order.data() + tie, order.data() + stop, before);
      tie = i;
    }
  });
  return order;
}

}  // namespace overlap_native
