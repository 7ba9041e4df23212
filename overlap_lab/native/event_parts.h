// A long list of events in a file, read in parts on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "event_parser.h"

namespace overlap_native {

/// The text of a list of events that begins at an offset of a file that is open for reading.
struct EventFile {
  int descriptor = -1;
  uint64_t begin = 0;
};

/// How the text is cut: each thread reads one part at a time.
struct PartSize {
  size_t bytes = 1 << 20;
  size_t threads = 1;
};

/// Reads the events up to the first one that is not well-formed, all if there is none, as if the
/// text had been given to the parser. Returns how many bytes were used; what follows is to be given
/// to it.
///
/// The place where a part begins is guessed, and the part is used only where the one before it ends
/// there; it is read again where not. `interrupted` is asked every 30 ms and may throw.
uint64_t parse_file(const EventFile& file, const PartSize& size, EventParser& into,
                    const std::function<void()>& interrupted);

}  // namespace overlap_native
