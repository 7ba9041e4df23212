// A list of events in a file, read in parts of any size by any number of threads: the table is that
// of the text read as a whole, and no part is longer than it should be.
#include <algorithm>

#include "event_parts.h"
#include "law.h"
#include "memory_file.h"
#include "picture.h"
#include "plain_text.h"

namespace {

using fuzz::Picture;
using fuzz::require;
using overlap_native::EventParser;
using overlap_native::State;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr unsigned kThreads = 4;
  fuzz::Choices choices(data, size);
  const overlap_native::PartSize parts{1 + choices.word() % (1 << 10),
                                       1 + choices.byte() % kThreads};
  const std::string_view text = choices.rest();
  const std::string_view before = "{\"traceEvents\": [";
  static const fuzz::MemoryFile file;
  file.write(before, text);

  EventParser whole(overlap_native::fastest_path());
  const size_t used = whole.parse(text.data(), text.size(), true);
  EventParser joined(overlap_native::fastest_path());
  overlap_native::FileText events(file.descriptor());
  size_t done = overlap_native::parse_parts(events, before.size(), parts, joined, [] {});
  require(done <= text.size(), "no more is used than there is");
  if (joined.state() == State::reading) {
    done += joined.parse(text.data() + done, text.size() - done, true);
  }
  if (!fuzz::is_utf8(text)) return 0;  // the list may end before what is wrong
  require(Picture(whole) == Picture(joined), "parts change nothing");
  require(used == done, "parts end where the whole ends");
  // Else one thread reads what the others should. Blanks may stand before the closing bracket.
  const auto blanks = std::count_if(text.begin(), text.end(), [](char c) { return c <= ' '; });
  const uint64_t longest = parts.bytes + joined.longest + static_cast<uint64_t>(blanks);
  require(joined.parts.count == 0 || joined.skipped != 0 || joined.parts.longest < longest + 1,
          "no part goes past the item that its end is in");
  return 0;
}
