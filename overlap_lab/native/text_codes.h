// A column of texts as codes: what most rows share is kept once.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "column.h"
#include "interned.h"

namespace overlap_native {

constexpr int32_t kNoText = -1;

class TextCodes {
 public:
  void push(std::string_view text) { codes.push(code_of(text)); }
  void push_none() { codes.push(kNoText); }
  int32_t code_of(std::string_view text) {
    if (last_ != kNoText) {
      if (texts[static_cast<size_t>(last_)] == text) return last_;
      const int32_t expected = next_[static_cast<size_t>(last_)];
      if (expected != kNoText && texts[static_cast<size_t>(expected)] == text) {
        return last_ = expected;
      }
    }
    const auto code = static_cast<int32_t>(texts.code_of(text));
    while (next_.size() < texts.size()) next_.push(kNoText);
    if (last_ != kNoText) next_[static_cast<size_t>(last_)] = code;
    return last_ = code;
  }

  Column<int32_t> codes;
  Interned texts;

 private:
  int32_t last_ = kNoText;  // rows in a row are often alike,
  Column<int32_t> next_;    // and what came after one comes again: programs run the same steps
};

}  // namespace overlap_native
