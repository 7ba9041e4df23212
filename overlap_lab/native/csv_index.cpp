#include "csv_index.h"

#include <algorithm>
#include <cstring>

#include "csv_masks.h"
#include "utf8.h"

namespace overlap_native {

namespace {

constexpr size_t kBlock = 64;
constexpr size_t kBatch = 64;  // blocks: their masks stay in the first-level cache

/// Bit i: the number of set bits at and below i is odd.
uint64_t running_parity(uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

class Indexer {
 public:
  Indexer(const char* text, size_t size, bool last, CsvIndex& found)
      : walk_(text, size, last),
        last_(last),
        found_(found),
        separator_(found.separators.data() + 1),
        line_(found.lines.data()) {
    found.separators[0] = -1;
  }

  void blocks(const CsvMasks* masks, size_t count, uint64_t wanted) {
    for (size_t i = 0; i < count; ++i, at_ += kBlock) block(masks[i], wanted);
  }

  void finish() {
    found_.separators.set_size(static_cast<size_t>(separator_ - found_.separators.data()));
    found_.lines.set_size(static_cast<size_t>(line_ - found_.lines.data()));
    found_.odd = odd_ != 0 || (last_ && inside_ != 0);
    found_.doubled = doubled_ != 0;
  }

 private:
  /// `wanted`: the bytes that are text, or the line end that the end of the text stands for.
  void block(const CsvMasks& masks, uint64_t wanted) {
    const uint64_t inside = running_parity(masks.quote) ^ inside_;  // with the quote that opens
    const uint64_t opens = masks.quote & inside;
    const uint64_t closes = masks.quote & ~inside;
    const uint64_t ends = (masks.comma | masks.line) & ~inside;
    const uint64_t behind = closes << 1 | closed_;
    odd_ |= opens & ~((ends | closes) << 1 | may_open_);
    odd_ |= behind & ~(ends | opens);
    doubled_ |= behind & opens;
    inside_ = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    closed_ = closes >> 63;
    may_open_ = (ends | closes) >> 63;
    write(ends & wanted, masks.line & ~inside & wanted);
    if ((masks.rare & wanted) != 0) found_.clean &= walk_.sound(at_, at_ + kBlock, /*zeros=*/false);
  }

  /// A line's end is one of `ends` too.
  void write(uint64_t ends, uint64_t lines) {
    for (uint64_t bits = lines; bits != 0; bits &= bits - 1) {
      const uint64_t below = (bits & (~bits + 1)) - 1;
      write(ends & below);
      ends &= ~below;
      *line_++ = static_cast<uint32_t>(separator_ - found_.separators.data());
    }
    write(ends);
  }

  void write(uint64_t ends) {
    const auto at = static_cast<int32_t>(at_);
    for (uint64_t bits = ends; bits != 0; bits &= bits - 1) {
      *separator_++ = at + __builtin_ctzll(bits);
    }
  }

  Utf8Walk walk_;
  bool last_;
  CsvIndex& found_;
  int32_t* separator_;
  uint32_t* line_;
  size_t at_ = 0;
  uint64_t inside_ = 0;    // all bits where a quote is open
  uint64_t closed_ = 0;    // 1 where the byte before was a quote that closes
  uint64_t may_open_ = 1;  // 1 where a quote may open a field
  uint64_t odd_ = 0;
  uint64_t doubled_ = 0;
};

uint64_t first_bits(size_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

}  // namespace

void index_csv(const char* text, size_t size, bool last, Path path, CsvIndex& found) {
  found.separators.hold(size + 2 * kBlock);
  found.lines.hold(size + 2 * kBlock);
  found.clean = true;
  const CsvMaskBlocks masks = csv_masks_of(path);
  CsvMasks batch[kBatch];
  Indexer indexer(text, size, last, found);
  const size_t whole = size / kBlock;
  for (size_t done = 0; done < whole;) {
    const size_t count = std::min(whole - done, kBatch);
    masks(text + done * kBlock, count, batch);
    indexer.blocks(batch, count, ~uint64_t{0});
    done += count;
  }
  const size_t rest = size - whole * kBlock;
  char tail[kBlock];
  std::memset(tail, '\n', kBlock);  // so that no quote at the end looks odd
  std::memcpy(tail, text + whole * kBlock, rest);
  masks(tail, 1, batch);
  indexer.blocks(batch, 1, first_bits(rest + (last ? 1 : 0)));
  indexer.finish();
}

}  // namespace overlap_native
