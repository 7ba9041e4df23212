#include "block_rows.h"

#include <algorithm>
#include <atomic>

#include "number_codes.h"
#include "threads.h"

namespace overlap_native {

namespace {

constexpr size_t kGrain = 1 << 16;

template <class To, class From>
void scatter_rows(Values<From> values, const int32_t* codes, const uint32_t* places, size_t begin,
                  size_t end, To* into) {
  if (codes == nullptr) {
    for (size_t row = begin; row < end; ++row) into[places[row]] = static_cast<To>(values[row]);
  } else {
    for (size_t row = begin; row < end; ++row) {
      into[places[row]] = static_cast<To>(values[static_cast<size_t>(codes[row])]);
    }
  }
}

/// Parts of all rows together: a block by itself may be too small for two threads.
template <class To>
void scatter_to(const std::vector<RowBlock>& blocks, const uint32_t* places, To* into) {
  std::vector<size_t> first;
  size_t size = 0;
  for (const RowBlock& block : blocks) {
    first.push_back(size);
    size += block.size;
  }
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    for (size_t at = 0; at < blocks.size(); ++at) {
      const size_t from = std::max(begin, first[at]),
                   to = std::min(end, first[at] + blocks[at].size);
      if (from >= to) continue;
      with_values(blocks[at].values, [&](auto values) {
        scatter_rows(values, blocks[at].codes, places + first[at], from - first[at], to - first[at],
                     into);
      });
    }
  });
}

}  // namespace

void scatter(const std::vector<RowBlock>& blocks, const uint32_t* places, void* into, Width width) {
  switch (width) {
    case Width::i8:
    case Width::u8:
      return scatter_to(blocks, places, static_cast<uint8_t*>(into));
    case Width::i16:
    case Width::u16:
      return scatter_to(blocks, places, static_cast<uint16_t*>(into));
    case Width::i32:
    case Width::u32:
      return scatter_to(blocks, places, static_cast<uint32_t*>(into));
    default:
      return scatter_to(blocks, places, static_cast<uint64_t*>(into));
  }
}

CodedColumn coded_column(const IntegerColumn& column) {
  CodedColumn found;
  found.codes.hold(column.size + 1);
  found.codes.set_size(column.size);
  NumberCodes codes;
  with_values(column, [&](auto values) {
    for (size_t row = 0; row < column.size; ++row) {
      found.codes[row] = codes.code_of(static_cast<int64_t>(values[row]));
    }
  });
  found.values = std::move(codes.values);
  return found;
}

Column<int64_t> distinct_values(const IntegerColumn& column) {
  NumberCodes codes;
  with_values(column, [&](auto values) {
    const size_t size = column.stride == 0 ? std::min<size_t>(column.size, 1) : column.size;
    for (size_t row = 0; row < size; ++row) codes.code_of(static_cast<int64_t>(values[row]));
  });
  return std::move(codes.values);
}

bool times_fit(const int64_t* start_ns, const int64_t* end_ns, size_t size, TimeLimits limits) {
  std::atomic<bool> fit{true};
  std::atomic<uint64_t> total{0};  // exact: each is at most `longest`, 2^53, of below 2^32 rows
  const auto most = static_cast<uint64_t>(limits.latest) / 2;
  for_parts(size, kGrain, [&](size_t begin, size_t end) {
    __extension__ using Wide = unsigned __int128;
    Wide sum = 0;
    bool all = true;
    for (size_t row = begin; row < end; ++row) {
      const int64_t start = start_ns[row], stop = end_ns[row];
      all &= (start >= limits.earliest) & (start <= limits.latest) & (stop >= limits.earliest) &
             (stop <= limits.latest);
      const auto length =
          static_cast<int64_t>(static_cast<uint64_t>(stop) - static_cast<uint64_t>(start));
      all &= length <= limits.longest;
      sum += static_cast<uint64_t>(std::max<int64_t>(length, 0));
    }
    if (!all || sum >= most || total.fetch_add(static_cast<uint64_t>(sum)) + sum >= most)
      fit = false;
  });
  return fit;
}

}  // namespace overlap_native
