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
    if (last_ == kNoText || texts[static_cast<size_t>(last_)] != text) {
      last_ = static_cast<int32_t>(texts.code_of(text));
    }
    return last_;
  }

  Column<int32_t> codes;
  Interned texts;

 private:
  int32_t last_ = kNoText;  // rows in a row are often alike
};

}  // namespace overlap_native
