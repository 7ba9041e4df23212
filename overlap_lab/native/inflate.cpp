#include "inflate.h"

#include <algorithm>
#include <cstring>

namespace overlap_native {

namespace {

constexpr ptrdiff_t kBlockHead = 1024;  // bytes that the codes of a block take at most
constexpr ptrdiff_t kAhead = 16;        // bytes that a literal run and a match take at most

/// Up to 15 bytes are written behind the copy.
inline void copy_match(uint8_t* to, size_t distance, size_t length) {
  const uint8_t* from = to - distance;
  const uint8_t* const end = to + length;
  if (distance >= 16) {
    do {
      std::memcpy(to, from, 16);
      to += 16;
      from += 16;
    } while (to < end);
  } else if (distance == 1) {
    std::memset(to, *from, length);
  } else {
    while (to < end) *to++ = *from++;
  }
}

}  // namespace

void Inflate::restart() {
  bits_ = {};
  step_ = Step::block;
}

/// At least 56 bits. Those beyond `count` are the text's own too, so that they may be set twice.
inline void Inflate::Bits::refill(Text& text) {
  uint64_t word;
  std::memcpy(&word, text.at, sizeof word);
  value |= word << count;
  text.at += (63 - count) >> 3;
  count |= 56;
}

Inflate::State Inflate::run(Text& text, Room& room) {
  while (true) {
    State state = State::wants_text;
    switch (step_) {
      case Step::block:
        state = begin_block(text);
        break;
      case Step::stored:
        state = copy_stored(text, room);
        break;
      case Step::codes:
        state = copy_codes(text, room);
        break;
      case Step::done:
        text.at -= bits_.count / 8;
        restart();
        return text.at > text.end ? State::damaged : State::done;
    }
    if (state != State::done) {
      // What was seen of the margin is no text.
      bits_.value &= (uint64_t{1} << bits_.count) - 1;
      return state;
    }
  }
}

/// Here and below `done` is the end of a step.
Inflate::State Inflate::begin_block(Text& text) {
  if (!text.last && text.end - text.at < kBlockHead) return State::wants_text;
  bits_.refill(text);
  final_ = bits_.take(1) != 0;
  const uint32_t kind = bits_.take(2);
  if (bits_.passed_end(text) || kind == 3) return State::damaged;
  if (kind == 0) return begin_stored(text);
  step_ = Step::codes;
  if (kind == 2) return read_codes(text) && !bits_.passed_end(text) ? State::done : State::damaged;
  std::array<uint8_t, 288> lengths;
  std::fill(lengths.begin(), lengths.begin() + 144, 8);
  std::fill(lengths.begin() + 144, lengths.begin() + 256, 9);
  std::fill(lengths.begin() + 256, lengths.begin() + 280, 7);
  std::fill(lengths.begin() + 280, lengths.end(), 8);
  lengths_.build(HuffmanTable::Of::lengths, lengths.data(), 288);
  std::fill(lengths.begin(), lengths.begin() + 32, 5);
  distances_.build(HuffmanTable::Of::distances, lengths.data(), 32);
  return State::done;
}

Inflate::State Inflate::begin_stored(Text& text) {
  text.at -= bits_.count / 8;
  bits_ = {};
  if (text.end - text.at < 4) return State::damaged;
  stored_ = static_cast<uint32_t>(text.at[0] | text.at[1] << 8);
  const auto inverse = static_cast<uint32_t>(text.at[2] | text.at[3] << 8);
  text.at += 4;
  step_ = Step::stored;
  return (stored_ ^ inverse) == 0xffff ? State::done : State::damaged;
}

Inflate::State Inflate::copy_stored(Text& text, Room& room) {
  const ptrdiff_t size =
      std::min({static_cast<ptrdiff_t>(stored_), text.end - text.at, room.end - room.at});
  if (size > 0) std::memcpy(room.at, text.at, static_cast<size_t>(size));
  text.at += size;
  room.at += size;
  stored_ -= static_cast<uint32_t>(size);
  if (stored_ == 0) {
    end_block();
    return State::done;
  }
  if (room.at == room.end) return State::wants_room;
  return text.last ? State::damaged : State::wants_text;
}

bool Inflate::read_codes(Text& text) {
  constexpr std::array<uint8_t, 19> kOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
  const uint32_t literals = bits_.take(5) + 257, distances = bits_.take(5) + 1,
                 codes = bits_.take(4) + 4;
  if (literals > 286 || distances > 30) return false;
  std::array<uint8_t, 19> code_lengths{};
  for (uint32_t code = 0; code < codes; ++code) {
    if (code % 16 == 0) bits_.refill(text);
    code_lengths[kOrder[code]] = static_cast<uint8_t>(bits_.take(3));
  }
  if (!lengths_.build(HuffmanTable::Of::codes, code_lengths.data(), 19)) return false;
  std::array<uint8_t, 286 + 30> lengths{};
  if (!read_lengths(text, lengths.data(), literals + distances)) return false;
  if (lengths[256] == 0) return false;  // such a block has no end
  return distances_.build(HuffmanTable::Of::distances, lengths.data() + literals, distances) &&
         lengths_.build(HuffmanTable::Of::lengths, lengths.data(), literals);
}

bool Inflate::read_lengths(Text& text, uint8_t* lengths, unsigned count) {
  for (unsigned at = 0; at < count;) {
    bits_.refill(text);
    const uint32_t entry = lengths_[bits_.peek(HuffmanTable::kBits)];
    if ((entry & HuffmanTable::kNone) != 0 || bits_.passed_end(text)) return false;
    bits_.take(entry & 0xff);
    const uint32_t symbol = entry >> 16;
    if (symbol < 16) {
      lengths[at++] = static_cast<uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && at == 0) return false;
    const uint8_t repeated = symbol == 16 ? lengths[at - 1] : 0;
    const uint32_t times = symbol == 16   ? 3 + bits_.take(2)
                           : symbol == 17 ? 3 + bits_.take(3)
                                          : 11 + bits_.take(7);
    if (times > count - at) return false;
    std::fill(lengths + at, lengths + at + times, repeated);
    at += times;
  }
  return true;
}

Inflate::State Inflate::copy_codes(Text& rest, Room& room) {
  constexpr uint32_t kLiteral = HuffmanTable::kLiteral;
  constexpr unsigned kBits = HuffmanTable::kBits;
  // In registers: for all that the compiler knows what is written may be part of this object.
  Bits bits = bits_;
  Text text = rest;
  uint8_t* to = room.at;
  const auto put = [&bits, &to](uint32_t entry) {
    *to++ = static_cast<uint8_t>(entry >> 16);
    bits.drop(entry & 0xff);
  };
  State state = State::damaged;
  while (true) {
    if (room.end - to < static_cast<ptrdiff_t>(kRoomMargin)) {
      state = State::wants_room;
      break;
    }
    if (!text.last && text.end - text.at < kAhead) {
      state = State::wants_text;
      break;
    }
    if (text.last && bits.passed_end(text)) break;
    bits.refill(text);
    uint32_t entry = lengths_[bits.peek(kBits)];
    if ((entry & kLiteral) != 0) {  // up to three without asking again
      put(entry);
      entry = lengths_[bits.peek(kBits)];
      if ((entry & kLiteral) != 0) {
        put(entry);
        entry = lengths_[bits.peek(kBits)];
        if ((entry & kLiteral) != 0) {
          put(entry);
          continue;
        }
      }
      bits.refill(text);
    }
    if ((entry & HuffmanTable::kNested) != 0) {
      bits.drop(kBits);
      entry = lengths_[(entry >> 16) + bits.peek(entry >> 8 & 0xf)];
      if ((entry & kLiteral) != 0) {
        put(entry);
        continue;
      }
    }
    if ((entry & HuffmanTable::kNone) != 0) break;
    bits.drop(entry & 0xff);
    if ((entry & HuffmanTable::kBlockEnd) != 0) {
      end_block();
      if (!bits.passed_end(text)) state = State::done;
      break;
    }
    const size_t length = (entry >> 16) + bits.take(entry >> 8 & 0xf);
    size_t distance = 0;
    if (!distance_of(bits, distance)) break;
    if (distance > static_cast<size_t>(to - room.history)) break;
    copy_match(to, distance, length);
    to += length;
  }
  bits_ = bits;
  rest = text;
  room.at = to;
  return state;
}

inline bool Inflate::distance_of(Bits& bits, size_t& distance) const {
  uint32_t entry = distances_[bits.peek(HuffmanTable::kBits)];
  if ((entry & HuffmanTable::kNested) != 0) {
    bits.drop(HuffmanTable::kBits);
    entry = distances_[(entry >> 16) + bits.peek(entry >> 8 & 0xf)];
  }
  if ((entry & HuffmanTable::kNone) != 0) return false;
  bits.drop(entry & 0xff);
  distance = (entry >> 16) + bits.take(entry >> 8 & 0xf);
  return true;
}

}  // namespace overlap_native
