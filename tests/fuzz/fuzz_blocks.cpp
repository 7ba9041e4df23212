// Blocks of rows put in the order of time, held to a stable sort of all rows.
#include <algorithm>
#include <numeric>
#include <vector>

#include "block_order.h"
#include "law.h"

namespace {

using fuzz::Choices;
using fuzz::require;

struct Block {
  std::vector<int64_t> start_ns, end_ns;
};

struct Rows {
  std::vector<int64_t> start_ns, end_ns;  // of all blocks, one behind the other
  std::vector<overlap_native::TimedBlock> blocks;
};

/// Starts that are `spread` wide and mostly go up.
Block block_of(Choices& choices, size_t rows, unsigned spread) {
  Block block;
  fuzz::Chance chance(choices.word());
  uint64_t now = (choices.byte() - uint64_t{128}) << spread % 57;
  for (size_t row = 0; row < rows; ++row) {
    const uint64_t step = choices.empty() ? chance.below(32) : choices.byte();
    now += ((step >> 2) - (step % 32 == 0 ? 40 : 0)) << spread / 4 % 48;
    block.start_ns.push_back(static_cast<int64_t>(now));
    block.end_ns.push_back(static_cast<int64_t>(now + (step & 3)));
  }
  return block;
}

std::vector<Block> blocks_of(Choices& choices) {
  constexpr size_t kFew = 64, kMany = size_t{1} << 15, kShort = 24;
  const uint8_t settings = choices.byte();
  // So that there are several slices, and threads share them.
  const bool many = settings >= 0xfe && choices.rest().size() < kShort;
  const unsigned spread = choices.byte();
  std::vector<Block> blocks;
  for (unsigned at = 0; at <= settings % 5; ++at) {
    const size_t rows = choices.byte() % kFew;
    blocks.push_back(block_of(choices, many ? kMany + rows : rows, spread));
  }
  return blocks;
}

Rows rows_of(const std::vector<Block>& blocks) {
  Rows rows;
  for (const Block& block : blocks) {
    rows.start_ns.insert(rows.start_ns.end(), block.start_ns.begin(), block.start_ns.end());
    rows.end_ns.insert(rows.end_ns.end(), block.end_ns.begin(), block.end_ns.end());
    rows.blocks.push_back({block.start_ns.data(), block.end_ns.data(), block.start_ns.size()});
  }
  return rows;
}

std::vector<uint32_t> plain_order(const Rows& rows) {
  std::vector<uint32_t> order(rows.start_ns.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t left, uint32_t right) {
    if (rows.start_ns[left] != rows.start_ns[right]) {
      return rows.start_ns[left] < rows.start_ns[right];
    }
    return rows.end_ns[left] > rows.end_ns[right];
  });
  return order;
}

unsigned bits_of(uint64_t number) {
  unsigned bits = 0;
  while (bits < 64 && number >> bits != 0) ++bits;
  return bits;
}

/// Whether a start and a row of all blocks together fit into one number: then they are ordered, and
/// maybe also where only a row of its block fits.
bool fits(const Rows& rows) {
  if (rows.start_ns.empty()) return false;
  const auto [low, high] = std::minmax_element(rows.start_ns.begin(), rows.start_ns.end());
  const uint64_t span = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
  return bits_of(span) + bits_of(rows.start_ns.size()) <= 64;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  const std::vector<Block> blocks = blocks_of(choices);
  const Rows rows = rows_of(blocks);
  overlap_native::BlockOrder found;
  const bool done = overlap_native::block_order(rows.blocks, [] {}, found);
  require(done || !fits(rows), "rows are ordered where numbers hold them");
  if (!done) return 0;
  const std::vector<uint32_t> plain = plain_order(rows);
  require(found.order.size() == plain.size() && found.place.size() == plain.size() &&
              found.start_ns.size() == plain.size() && found.end_ns.size() == plain.size(),
          "each row has a place");
  for (size_t at = 0; at < plain.size(); ++at) {
    const uint32_t row = plain[at];
    require(found.order[at] == row, "the order is that of a stable sort");
    require(found.place[row] == at, "places undo the order");
    require(found.start_ns[at] == rows.start_ns[row] && found.end_ns[at] == rows.end_ns[row],
            "times are those of the rows");
  }
  return 0;
}
