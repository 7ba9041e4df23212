// UTF-8 as Python's decoder takes it: no surrogates, no overlong forms, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace overlap_native {

/// What `utf8_length` says where the text ends inside a character that may still become valid.
constexpr size_t kUtf8Cut = 8;

/// Bytes of the character at `text`, of which `size` (at least 1) are there; 0 where it is none.
size_t utf8_length(const char* text, size_t size);

/// Text of which some blocks are judged, from the front on. `last`: no more text follows, so that a
/// character cut off at the end is none.
class Utf8Walk {
 public:
  Utf8Walk(const char* text, size_t size, bool last) : text_(text), size_(size), last_(last) {}

  /// Whether the characters that begin in [begin, end) are such; a zero byte where `zeros` are.
  bool sound(size_t begin, size_t end, bool zeros);

 private:
  const char* text_;
  size_t size_;
  bool last_;
  size_t at_ = 0;  // behind the last character seen
};

/// Append a code point; a lone surrogate takes three bytes, as Python's "surrogatepass" has it.
void append_utf8(std::string& to, uint32_t code);

/// The text of a JSON string's content, whose escapes are known to be valid.
void append_unescaped(std::string& to, const char* text, const char* end);

}  // namespace overlap_native
