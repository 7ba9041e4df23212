// DEFLATE (RFC 1951), as much at a time as there is text and room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace overlap_native {

/// A code of DEFLATE as a table: the next bits of the text are the index.
class HuffmanTable {
 public:
  /// What symbols stand for, by table: a literal or a length, a distance, the length of a code.
  enum class Of : uint8_t { lengths, distances, codes };
  static constexpr unsigned kBits = 11;

  /// False where there is no such code: zlib refuses the same ones.
  bool build(Of of, const uint8_t* lengths, unsigned symbols);

  // An entry: bits 0 to 7 the bits that it takes, 8 to 11 how many bits follow it, then a flag,
  // from 16 on its value, to which the bits that follow are added.
  static constexpr uint32_t kLiteral = 1 << 12;
  static constexpr uint32_t kNested = 1 << 13;  // the rest of the code is looked up elsewhere
  static constexpr uint32_t kBlockEnd = 1 << 14;
  static constexpr uint32_t kNone = 1 << 15;
  uint32_t operator[](size_t index) const { return entries_[index]; }

 private:
  bool nest(Of of, const uint8_t* lengths, unsigned symbols, const std::array<uint16_t, 16>& first);

  std::array<uint32_t, 1 << 12> entries_;
};

class Inflate {
 public:
  /// Bytes behind the text that must be readable, and 0 where it is the last.
  static constexpr size_t kTextMargin = 32;
  /// Bytes of room without which nothing more is written.
  static constexpr size_t kRoomMargin = 258 + 16;

  enum class State : uint8_t { wants_text, wants_room, done, damaged };
  struct Text {
    const uint8_t* at;
    const uint8_t* end;
    bool last;  // no text follows
  };
  struct Room {
    const uint8_t* history;  // where what was written begins; 32 KiB of it are enough
    uint8_t* at;
    uint8_t* end;
  };

  /// Begin a new stream.
  void restart();
  /// Goes on; once `done`, `text.at` is behind the stream.
  State run(Text& text, Room& room);

 private:
  enum class Step : uint8_t { block, stored, codes, done };

  /// The next bits of the text, lowest first.
  struct Bits {
    uint64_t value = 0;
    unsigned count = 0;  // of those that are known

    void refill(Text& text);
    void drop(unsigned size) {
      value >>= size;
      count -= size;
    }
    uint32_t peek(unsigned size) const {
      return static_cast<uint32_t>(value & ((uint64_t{1} << size) - 1));
    }
    uint32_t take(unsigned size) {
      const uint32_t taken = peek(size);
      drop(size);
      return taken;
    }
    bool passed_end(const Text& text) const { return text.at - count / 8 > text.end; }
  };

  State begin_block(Text& text);
  State begin_stored(Text& text);
  bool read_codes(Text& text);
  bool read_lengths(Text& text, uint8_t* lengths, unsigned count);
  State copy_stored(Text& text, Room& room);
  State copy_codes(Text& text, Room& room);
  bool distance_of(Bits& bits, size_t& distance) const;
  void end_block() { step_ = final_ ? Step::done : Step::block; }

  Bits bits_;
  Step step_ = Step::block;
  bool final_ = false;
  uint32_t stored_ = 0;
  HuffmanTable lengths_, distances_;
};

}  // namespace overlap_native
