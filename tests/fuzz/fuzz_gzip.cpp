// DEFLATE and gzip: what is unpacked, in pieces of any size, is what zlib unpacks, and what zlib
// takes for damaged is.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "crc32.h"
#include "gzip_member.h"
#include "gzip_text.h"
#include "inflate.h"
#include "law.h"
#include "memory_file.h"
#include "zlib_library.h"

namespace {

using fuzz::Chance;
using fuzz::member;
using fuzz::require;
using overlap_native::Inflate;
using State = Inflate::State;

constexpr size_t kMostText = 1 << 20;

/// Text and room in blocks of their own, so that a look or a write past an end is seen.
class Pieces {
 public:
  Pieces(std::string_view packed, uint64_t seed) : packed_(packed), chance_(seed) {}

  /// Whether the stream is whole. Ends also where there is more text than is compared.
  bool unpack() {
    State state = State::wants_text;
    while (state == State::wants_text || state == State::wants_room) {
      if (state == State::wants_text) {
        require(given_ < packed_.size() || !started_, "no more is wanted than there is");
        given_ = std::min(given_ + 1 + chance_.below(most_), packed_.size());
        started_ = true;
      }
      state = step();
      if (text_.size() > kMostText) return false;
    }
    return state == State::done;
  }
  const std::string& text() const { return text_; }
  size_t used() const { return used_; }

 private:
  State step() {
    constexpr size_t kHistory = 1 << 15, kBehind = 16;
    const bool last = given_ == packed_.size();
    // At the end of the text a few bytes behind it may have been taken already.
    const size_t base = used_ - std::min(used_, kBehind);
    std::vector<uint8_t> input(packed_.begin() + static_cast<ptrdiff_t>(base),
                               packed_.begin() + static_cast<ptrdiff_t>(given_));
    input.resize(input.size() + Inflate::kTextMargin, last ? 0 : 0xa5);
    const size_t history = std::min(text_.size(), kHistory);
    std::vector<uint8_t> output(text_.end() - static_cast<ptrdiff_t>(history), text_.end());
    output.resize(history + Inflate::kRoomMargin + chance_.below(3000));
    Inflate::Text text{input.data() + (used_ - base),
                       input.data() + input.size() - Inflate::kTextMargin, last};
    Inflate::Room room{output.data(), output.data() + history, output.data() + output.size()};
    const State state = inflate_.run(text, room);
    used_ = base + static_cast<size_t>(text.at - input.data());
    text_.append(output.data() + history, room.at);
    return state;
  }

  std::string_view packed_;
  Chance chance_;
  Inflate inflate_;
  size_t most_ = 1 + chance_.below(4000);
  size_t given_ = 0, used_ = 0;
  bool started_ = false;
  std::string text_;
};

void check_file(std::string_view packed, const std::string& text, uint32_t checksum,
                uint8_t settings, uint32_t place) {
  static const fuzz::MemoryFile file;
  std::string two = member(packed, text, checksum, settings);
  two += member(packed, text, checksum, settings >> 1);
  const auto unpacked = [&](std::string& found) {
    file.write(two, "");
    overlap_native::GzipText gzip(file.descriptor());
    return overlap_native::read_rest(gzip, 0, found, [] {});
  };
  std::string found;
  require(unpacked(found) && found == text + text, "members follow each other");
  two[place % two.size()] ^= static_cast<char>(1 + settings);  // damaged in one byte
  found.clear();
  if (unpacked(found)) require(found == text + text, "damage is seen, or changes nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::Zlib zlib;
  fuzz::Choices choices(data, size);
  const uint8_t settings = choices.byte();
  const uint32_t place = choices.word();
  const std::string_view packed = choices.rest();
  std::string text;
  size_t used = 0;
  const bool whole = zlib.unpack(packed, kMostText + 1, text, used);
  Pieces pieces(packed, place);
  const bool found = pieces.unpack();
  if (text.size() > kMostText) return 0;
  require(found == whole, "whole streams are told from damaged ones");
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const uint32_t checksum = overlap_native::crc32(0, bytes, text.size());
  require(checksum == zlib.crc32(text), "checksums are zlib's");
  require(checksum == overlap_native::crc32_plain(0, bytes, text.size()), "on every machine");
  if (!whole) return 0;
  require(pieces.text() == text && pieces.used() == used, "streams are unpacked as zlib does");
  if (text.size() < (1 << 16)) {
    check_file(packed.substr(0, used), text, checksum, settings, place);
  }
  return 0;
}
