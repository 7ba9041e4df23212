// The items of a JSON list, read one byte at a time: the plain reading that the parser is held to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace fuzz {

/// Reads as Python's strict `json` does: NaN and Infinity are values, of repeated keys each counts.
class PlainJson {
 public:
  explicit PlainJson(std::string_view text, unsigned deepest = kDeepest)
      : text_(text), deepest_(deepest) {}

  /// Reads the items of a list and the bracket that closes it; false where the text is no such.
  bool list();

  /// Reads one value that is all of the text.
  bool document();

  size_t end() const { return at_; }
  uint64_t objects = 0;  // items that are
  uint64_t others = 0;   // items that are not
  uint64_t repaired = 0;

 private:
  static constexpr unsigned kDeepest = 512;  // as the parser of events has it

  bool value(unsigned depth);
  bool object(unsigned depth);
  bool array(unsigned depth);
  bool string(std::string& content);
  bool escape(std::string& content);
  bool number();
  size_t digits();
  bool word();
  void blank();
  bool takes(char c);

  std::string_view text_;
  unsigned deepest_;
  size_t at_ = 0;
  bool constant_ = false;
};

}  // namespace fuzz
