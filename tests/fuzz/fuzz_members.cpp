// The long values of a header: what is left out is whole, and what is left is the header without
// it.
#include <string>

#include "law.h"
#include "long_members.h"
#include "plain_json.h"
#include "plain_text.h"

namespace {

using fuzz::PlainJson;
using fuzz::require;
using overlap_native::LongMembers;
using overlap_native::Path;

constexpr unsigned kDeepest = 513;  // the object itself is one

struct Found {
  bool whole = false;
  LongMembers members;
};

/// The text in a block of its own, so that a look past its margin is seen.
Found found_in(std::string_view text, size_t least, Path path) {
  const std::string room = std::string(text) + std::string(overlap_native::kMembersMargin, ' ');
  Found found;
  found.whole = overlap_native::long_members(room.data(), text.size(), least, path, found.members,
                                             overlap_native::Stop());
  return found;
}

bool same(const Found& left, const Found& right) {
  if (left.whole != right.whole) return false;
  if (!left.whole) return true;
  if (left.members.values.size() != right.members.values.size()) return false;
  for (size_t at = 0; at < left.members.values.size(); ++at) {
    const LongMembers::Span &one = left.members.values[at], &other = right.members.values[at];
    if (one.begin != other.begin || one.end != other.end || one.repaired != other.repaired) {
      return false;
    }
  }
  return true;
}

bool is_object(std::string_view text, uint64_t& repaired) {
  PlainJson plain(text, kDeepest);
  const bool whole = !text.empty() && text[0] == '{' && fuzz::is_utf8(text) && plain.document();
  repaired = plain.repaired;
  return whole;
}

void check_values(std::string_view text, size_t least, const Found& found, uint64_t repaired) {
  std::string rest;
  size_t at = 0;
  uint64_t apart = 0;
  for (const LongMembers::Span& span : found.members.values) {
    require(span.begin >= at && span.end >= span.begin + least && span.end <= text.size(),
            "long values follow each other");
    uint64_t unused = 0;
    const std::string value(text.substr(span.begin, span.end - span.begin));
    require(is_object("{\"\":" + value + "}", unused), "a long value is one");
    rest.append(text.substr(at, span.begin - at)) += "null";
    at = span.end;
    apart += span.repaired;
  }
  rest += text.substr(at);
  uint64_t left = 0;
  require(is_object(rest, left), "what is left is an object");
  constexpr size_t kNull = 4;
  const Found again = found_in(rest, least, overlap_native::fastest_path());
  require(again.whole && (least <= kNull || again.members.values.empty()), "no long value is left");
  // A constant counts for the object that ends next, which may be left out.
  const bool constants = text.find('N') != text.npos || text.find('I') != text.npos;
  require(constants || left + apart == repaired, "each repeated key is counted once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const size_t least = 1 + choices.byte();
  const std::string_view text = choices.rest();
  const Found found = found_in(text, least, Path::scalar);
  for (const Path path : {Path::avx2, Path::avx512}) {
    if (!overlap_native::path_supported(path)) continue;
    require(same(found, found_in(text, least, path)), "every path finds the same");
  }
  uint64_t repaired = 0;
  require(found.whole == is_object(text, repaired), "objects are told from other text");
  if (found.whole) check_values(text, least, found, repaired);
  return 0;
}
