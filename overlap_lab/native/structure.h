// Where the strings of a JSON text begin and end, found 64 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"
#include "threads.h"

namespace overlap_native {

/// The instructions a scan uses. All find the same; the machine decides which are there.
enum class Path { scalar, avx2, avx512 };

bool path_supported(Path path);
Path fastest_path();

/// What a scan finds in one piece of text.
struct Structure {
  /// Offsets of the quotes that open and close strings, in order; behind them `size` a few times.
  Column<uint32_t> quotes;
  /// Offsets of control characters and unknown escapes inside strings, in order.
  Column<uint32_t> faults;
  /// Whether there is any backslash.
  bool escapes = false;
  /// False where the text is not UTF-8.
  bool utf8 = true;
};

/// Scan `size` bytes that start outside of any string. `last`: no more text follows, so that a
/// character cut off at the end is a fault and not the other half of the next piece. What was found
/// is of no use where `stop` was asked.
void scan(const char* text, size_t size, bool last, Path path, Structure& found,
          const Stop* stop = nullptr);

}  // namespace overlap_native
