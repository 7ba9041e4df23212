// The long values of an object: what a header is better read without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "structure.h"
#include "threads.h"

namespace overlap_native {

struct LongMembers {
  struct Span {
    size_t begin, end;  // offsets in the text
    uint32_t repaired;  // objects with repeated keys or NaN in it
  };
  std::vector<Span> values;
};

/// Bytes behind the text of an object that may be looked at.
constexpr size_t kMembersMargin = 64;

/// Finds the values of at least `least` bytes in the object that `text` is, not those within them.
/// False where the text is not UTF-8, not an object that Python's strict parser reads, or longer
/// than offsets go; also where `stop` was asked.
bool long_members(const char* text, size_t size, size_t least, Path path, LongMembers& found,
                  const Stop& stop);

}  // namespace overlap_native
