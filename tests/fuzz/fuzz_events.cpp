// The parser of Chrome traces: text in pieces of any size gives the table of the whole text, on
// every instruction set, and what is well-formed is told from what is not as a plain reader does.
#include <memory>
#include <string>
#include <vector>

#include "law.h"
#include "picture.h"
#include "plain_json.h"
#include "plain_text.h"

namespace {

using fuzz::Chance;
using fuzz::Picture;
using fuzz::require;
using overlap_native::EventParser;
using overlap_native::Path;
using overlap_native::State;
using overlap_native::Structure;

/// The first bytes of an input: how the rest is read.
struct Settings {
  explicit Settings(fuzz::Choices& choices) : bits(choices.byte()), seed(choices.word()) {}
  bool lenient() const { return (bits & 1) != 0; }
  bool count_replaced() const { return (bits & 2) != 0; }
  /// Blank text before the events, so that a piece of the parser's own ends among them.
  bool pushed() const { return (bits & 0xc) == 0xc; }
  size_t most() const { return size_t{1} << (bits >> 4); }  // bytes of a piece

  uint8_t bits;
  uint32_t seed;
};

std::vector<Path> paths() {
  std::vector<Path> all;
  for (const Path path : {Path::scalar, Path::avx2, Path::avx512}) {
    if (overlap_native::path_supported(path)) all.push_back(path);
  }
  return all;
}

template <class Value>
bool same(const overlap_native::Column<Value>& left, const overlap_native::Column<Value>& right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] != right[i]) return false;
  }
  return true;
}

void check_scans(std::string_view text) {
  for (const bool last : {false, true}) {
    Structure plain;
    overlap_native::scan(text.data(), text.size(), last, Path::scalar, plain);
    for (const Path path : paths()) {
      Structure found;
      overlap_native::scan(text.data(), text.size(), last, path, found);
      require(same(plain.quotes, found.quotes), "every path finds the same quotes");
      require(same(plain.faults, found.faults), "every path finds the same faults");
      require(plain.escapes == found.escapes && plain.utf8 == found.utf8,
              "every path judges the text alike");
    }
    if (last) require(plain.utf8 == fuzz::is_utf8(text), "a scan knows what is UTF-8");
  }
}

struct Reading {
  std::unique_ptr<EventParser> parser;
  size_t used = 0;
};

Reading started(const Settings& settings, Path path) {
  Reading reading{std::make_unique<EventParser>(path)};
  reading.parser->lenient = reading.parser->any_commas = settings.lenient();
  reading.parser->count_replaced = settings.count_replaced();
  return reading;
}

Reading read_whole(std::string_view text, const Settings& settings, Path path) {
  Reading reading = started(settings, path);
  reading.used = reading.parser->parse(text.data(), text.size(), true);
  return reading;
}

/// Each piece in a block of its own, so that a look past its end is seen.
Reading read_pieces(std::string_view text, const Settings& settings, Path path) {
  Reading reading = started(settings, path);
  Chance chance(settings.seed);
  for (size_t end = 0; reading.parser->state() == State::reading;) {
    end = std::min(end + 1 + chance.below(settings.most()), text.size());
    const std::vector<char> piece(text.begin() + static_cast<ptrdiff_t>(reading.used),
                                  text.begin() + static_cast<ptrdiff_t>(end));
    reading.used += reading.parser->parse(piece.data(), piece.size(), end == text.size());
  }
  return reading;
}

void check_against_plain(std::string_view text, const Reading& whole) {
  fuzz::PlainJson plain(text);
  const bool closed = plain.list();
  const EventParser& parser = *whole.parser;
  require(closed == (parser.state() == State::closed), "a list is closed where JSON has its end");
  if (!closed) return;
  require(plain.end() == whole.used, "a list ends where JSON has its end");
  require(plain.objects == parser.events && plain.others == parser.skipped, "items are counted");
  require(plain.repaired == parser.repaired, "repeated keys and constants are counted");
}

void check_pushed(std::string_view text, const Settings& settings, const Reading& whole) {
  const size_t blanks = EventParser::kPiece - settings.seed % (text.size() + 1);
  std::string pushed(blanks, ' ');
  pushed += text;
  const Reading reading = read_whole(pushed, settings, overlap_native::fastest_path());
  require(Picture(*whole.parser) == Picture(*reading.parser), "blank text changes nothing");
  require(whole.used == 0 || reading.used == whole.used + blanks, "all of the blank text is used");
}

void check_accept(std::string_view text) {
  EventParser parser(overlap_native::fastest_path());
  if (!parser.accept(text)) return;
  require(parser.events == 1, "what is accepted is one event");
  fuzz::PlainJson plain(std::string(text) + "]");
  require(plain.list() && plain.objects == 1, "what is accepted is an object");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const Settings settings(choices);
  const std::string_view text = choices.rest();
  check_scans(text);
  const Reading whole = read_whole(text, settings, Path::scalar);
  require(whole.used <= text.size(), "no more is used than there is");
  const bool utf8 = fuzz::is_utf8(text);
  require(utf8 == (whole.parser->state() != State::not_utf8), "text that is not UTF-8 is said so");
  const Picture picture(*whole.parser);
  for (const Path path : paths()) {
    require(picture == Picture(*read_whole(text, settings, path).parser), "all paths read alike");
    const Reading pieces = read_pieces(text, settings, path);
    if (!utf8) continue;  // a piece may end before what is wrong
    require(picture == Picture(*pieces.parser), "the size of pieces changes nothing");
    require(whole.used == pieces.used, "pieces end where the whole ends");
  }
  if (utf8 && !settings.lenient()) check_against_plain(text, whole);
  if (utf8 && settings.pushed()) check_pushed(text, settings, whole);
  if (utf8) check_accept(text);
  return 0;
}
