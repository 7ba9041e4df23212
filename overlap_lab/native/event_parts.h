// A long list of events, read in parts on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "event_parser.h"
#include "event_text.h"

namespace overlap_native {

/// How the text is cut: each thread reads one part at a time.
struct PartSize {
  size_t bytes = 1 << 20;
  size_t threads = 1;
};

/// Reads the events of a list that begins at an offset of the text, up to the first one that is not
/// well-formed, all if there is none, as if the text had been given to the parser. Returns how many
/// bytes were used; what follows is to be given to it.
///
/// The place where a part begins is guessed, and the part is used only where the one before it ends
/// there; it is read again where not. `interrupted` is asked every 30 ms and may throw.
uint64_t parse_parts(EventText& text, uint64_t begin, const PartSize& size, EventParser& into,
                     const std::function<void()>& interrupted);

}  // namespace overlap_native
