// Where the fields and records of CSV text end, found 64 bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "column.h"
#include "structure.h"

namespace overlap_native {

struct CsvIndex {
  /// Offsets of the commas and line ends outside of quotes, in order, behind a first entry of -1.
  Column<int32_t> separators;
  /// Which of the separators are line ends. "\r\n" is two: the line between them is blank.
  Column<uint32_t> lines;
  /// Some quote stands where only Python's `csv` says what it means: the above may be wrong.
  bool odd = false;
  /// Some field has a quote in it, written twice.
  bool doubled = false;
  /// False for text with zero bytes and for what is not UTF-8, in so far as it ends in this text.
  bool clean = true;
};

/// Index `size` bytes, at most 2^30, that start with a record. `last`: no more text follows, so
/// that the text ends a record whether or not a line end is there.
void index_csv(const char* text, size_t size, bool last, Path path, CsvIndex& found);

}  // namespace overlap_native
