// The text of a gzip file given to a reader piece by piece, while another thread unpacks ahead: the
// pieces are the text, and damage is seen or changes nothing.
#include <string>

#include "crc32.h"
#include "gzip_member.h"
#include "gzip_pieces.h"
#include "law.h"
#include "memory_file.h"

namespace {

using fuzz::require;

/// Wants pieces of any size, and may refuse one.
class Reader {
 public:
  Reader(uint64_t seed, size_t most, size_t refused) : chance_(seed), most_(most), left_(refused) {}

  size_t wanted() { return 1 + chance_.below(most_); }
  char* room(size_t size) {
    room_.assign(size, '\0');
    return room_.data();
  }
  bool read(size_t size, bool last) {
    require(!last_, "nothing is read behind the last piece");
    require(size <= room_.size() && (last || size == room_.size()), "pieces are as wanted");
    last_ = last;
    text_.append(room_, 0, size);
    return --left_ != 0;
  }
  const std::string& text() const { return text_; }
  bool last() const { return last_; }

 private:
  fuzz::Chance chance_;
  size_t most_, left_;
  std::string room_, text_;
  bool last_ = false;
};

std::string packed(std::string_view text, size_t members, uint8_t settings) {
  std::string all;
  const size_t step = text.size() / members + 1;
  for (size_t at = 0; at == 0 || at < text.size(); at += step) {
    const std::string_view some = text.substr(at, step);
    const auto* bytes = reinterpret_cast<const uint8_t*>(some.data());
    all += fuzz::member(fuzz::stored(some), some, overlap_native::crc32(0, bytes, some.size()),
                        settings);
  }
  return all;
}

/// Text of any length; the longest is longer than what is unpacked ahead.
std::string text_of(std::string_view rest, unsigned doubled) {
  constexpr size_t kMost = 9 << 20;
  std::string text(rest);
  while (doubled-- != 0 && 2 * text.size() < kMost) text += text;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t settings = choices.byte(), doubled = choices.byte();
  const uint32_t place = choices.word();
  const size_t most = size_t{16} << choices.byte() % 16, members = 1 + choices.byte() % 5;
  const size_t refused = choices.byte() % 8 == 0 ? 1 + choices.byte() : 0;
  const std::string text = text_of(choices.rest(), doubled == 0xff ? 20 : doubled % 8);
  const size_t begin = place % (text.size() + 1);
  const std::string_view expected = std::string_view(text).substr(begin);
  static const fuzz::MemoryFile file;
  std::string content = packed(text, members, settings);
  file.write(content, "");
  Reader reader(place, most, refused);
  const bool taken = overlap_native::read_gzip(file.descriptor(), begin, reader, [] {});
  require(expected.substr(0, reader.text().size()) == reader.text(), "pieces are the text");
  if (taken) require(reader.last() && reader.text() == expected, "all of the text was taken");
  if (refused == 0) require(taken, "a sound file is taken");

  content[place % content.size()] ^= static_cast<char>(1 + settings % 255);  // one byte is damaged
  file.write(content, "");
  Reader wary(place, most, 0);
  if (overlap_native::read_gzip(file.descriptor(), begin, wary, [] {})) {
    require(wary.text() == expected, "damage is seen, or changes nothing");
  }
  return 0;
}
