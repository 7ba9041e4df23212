// A column of numbers of which few are distinct: a code per row, and each number once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "column.h"
#include "narrow_column.h"

namespace overlap_native {

class CodedNumbers {
 public:
  void push(int64_t number) {
    const size_t slot = static_cast<size_t>(number) % kRecent;
    if (recent_[slot].code == kNone || recent_[slot].number != number) {
      recent_[slot] = {number, code_of(number)};
    }
    waiting_[waiting_size_++] = recent_[slot].code;
    if (waiting_size_ == kWaiting) flush();
  }
  /// To be called before `codes` is looked at.
  void flush() {
    codes.append(waiting_.data(), waiting_size_);
    waiting_size_ = 0;
  }

  NarrowColumn codes;
  Column<int64_t> numbers;

 private:
  static constexpr size_t kRecent = 64;
  static constexpr size_t kWaiting = 128;
  static constexpr int64_t kNone = -1;
  struct Recent {
    int64_t number = 0;
    int64_t code = kNone;
  };

  int64_t code_of(int64_t number) {
    const auto [at, added] = known_.try_emplace(number, static_cast<int64_t>(numbers.size()));
    if (added) numbers.push(number);
    return at->second;
  }

  std::array<Recent, kRecent> recent_{};
  std::array<int64_t, kWaiting> waiting_{};
  size_t waiting_size_ = 0;
  std::unordered_map<int64_t, int64_t> known_;
};

}  // namespace overlap_native
