#include <algorithm>

#include "inflate.h"

namespace overlap_native {

namespace {

constexpr unsigned kLongest = 15;
constexpr unsigned kBlockEndSymbol = 256;

/// The value of a symbol with the bits that follow it.
struct Meaning {
  uint16_t base;
  uint8_t extra;
};

constexpr std::array<Meaning, 29> kLengths{
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Meaning, 30> kDistances{
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
     {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
     {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
     {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

uint32_t entry_of(Meaning meaning) {
  return static_cast<uint32_t>(meaning.base) << 16 | static_cast<uint32_t>(meaning.extra) << 8;
}

uint32_t entry_of(HuffmanTable::Of of, unsigned symbol) {
  if (of == HuffmanTable::Of::codes) return symbol << 16;
  if (of == HuffmanTable::Of::distances) {
    return symbol < kDistances.size() ? entry_of(kDistances[symbol]) : HuffmanTable::kNone;
  }
  if (symbol < kBlockEndSymbol) return symbol << 16 | HuffmanTable::kLiteral;
  if (symbol == kBlockEndSymbol) return HuffmanTable::kBlockEnd;
  const unsigned length = symbol - kBlockEndSymbol - 1;
  return length < kLengths.size() ? entry_of(kLengths[length]) : HuffmanTable::kNone;
}

/// Codes stand in the text with their first bit lowest.
uint32_t reversed(uint32_t code, unsigned length) {
  uint32_t result = 0;
  for (unsigned bit = 0; bit < length; ++bit) result |= (code >> bit & 1) << (length - 1 - bit);
  return result;
}

}  // namespace

bool HuffmanTable::build(Of of, const uint8_t* lengths, unsigned symbols) {
  std::array<uint16_t, kLongest + 1> count{}, first{};
  for (unsigned symbol = 0; symbol < symbols; ++symbol) ++count[lengths[symbol]];
  count[0] = 0;
  int left = 1;
  unsigned longest = 0;
  for (unsigned length = 1; length <= kLongest; ++length) {
    first[length] = static_cast<uint16_t>((first[length - 1] + count[length - 1]) << 1);
    left = 2 * left - count[length];
    if (left < 0) return false;  // more codes than bits tell apart
    if (count[length] != 0) longest = length;
  }
  if (left > 0 && (of == Of::codes || longest > 1)) return false;
  std::fill(entries_.begin(), entries_.end(), kNone | 1);
  std::array<uint16_t, kLongest + 1> next = first;
  for (unsigned symbol = 0; symbol < symbols; ++symbol) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    const uint32_t code = reversed(next[length]++, length);
    if (length > kBits) continue;
    const uint32_t entry = entry_of(of, symbol) | length;
    for (size_t at = code; at < size_t{1} << kBits; at += size_t{1} << length) entries_[at] = entry;
  }
  return longest <= kBits || nest(of, lengths, symbols, first);
}

/// Tables for the codes that begin with the same `kBits` bits.
bool HuffmanTable::nest(Of of, const uint8_t* lengths, unsigned symbols,
                        const std::array<uint16_t, 16>& first) {
  constexpr uint32_t kMask = (1 << kBits) - 1;
  std::array<uint8_t, 1 << kBits> rest{};  // bits that the longest code takes beyond these
  for (const bool fill : {false, true}) {
    std::array<uint16_t, kLongest + 1> next = first;
    for (unsigned symbol = 0; symbol < symbols; ++symbol) {
      const unsigned length = lengths[symbol];
      if (length == 0) continue;
      const uint32_t code = reversed(next[length]++, length);
      if (length <= kBits) continue;
      uint8_t& bits = rest[code & kMask];
      if (!fill) bits = std::max<uint8_t>(bits, static_cast<uint8_t>(length - kBits));
      if (!fill) continue;
      const uint32_t entry = entry_of(of, symbol) | (length - kBits);
      const size_t table = entries_[code & kMask] >> 16;
      for (size_t at = code >> kBits; at < size_t{1} << bits; at += size_t{1} << (length - kBits)) {
        entries_[table + at] = entry;
      }
    }
    size_t free = size_t{1} << kBits;
    for (size_t group = 0; group < rest.size() && !fill; ++group) {
      if (rest[group] == 0) continue;
      entries_[group] = static_cast<uint32_t>(free) << 16 | kNested |
                        static_cast<uint32_t>(rest[group]) << 8 | kBits;
      free += size_t{1} << rest[group];
      if (free > entries_.size()) return false;
    }
  }
  return true;
}

}  // namespace overlap_native
