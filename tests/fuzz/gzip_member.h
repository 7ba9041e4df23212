// Members of gzip files, made by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuzz {

inline void add_word(std::string& to, uint32_t word) {
  to.append(reinterpret_cast<const char*>(&word), sizeof word);
}

/// A member with what may stand in its head, and zeros behind it.
inline std::string member(std::string_view packed, std::string_view text, uint32_t checksum,
                          uint8_t settings) {
  constexpr uint8_t kExtra = 4, kName = 8, kComment = 16;
  const uint8_t flags = settings & (kExtra | kName | kComment);
  std::string all("\x1f\x8b\x08", 3);
  all += static_cast<char>(flags);
  all.append(6, '\0');
  if ((flags & kExtra) != 0) all.append("\3\0abc", 5);
  if ((flags & kName) != 0) all.append("name\0", 5);
  if ((flags & kComment) != 0) all.append("comment\0", 8);
  all += packed;
  add_word(all, checksum);
  add_word(all, static_cast<uint32_t>(text.size()));
  all.append(settings & 3, '\0');
  return all;
}

/// A stream of DEFLATE that only copies.
inline std::string stored(std::string_view text) {
  constexpr size_t kLongest = 0xffff;
  std::string all;
  do {
    const std::string_view some = text.substr(0, kLongest);
    text.remove_prefix(some.size());
    const auto size = static_cast<uint32_t>(some.size());
    all += text.empty() ? '\1' : '\0';
    add_word(all, size | ~size << 16);
    all += some;
  } while (!text.empty());
  return all;
}

}  // namespace fuzz
