#include "structure.h"

#include <algorithm>
#include <cstring>

#include "structure_masks.h"
#include "utf8.h"

namespace overlap_native {

namespace {

constexpr size_t kBlock = 64;
constexpr size_t kBatch = 64;     // blocks: their masks stay in the first-level cache
constexpr size_t kSentinels = 4;  // quotes that a reader may look ahead without asking for the end

MaskBlocks masks_of(Path path) {
#if defined(__x86_64__)
  if (path == Path::avx512) return masks_avx512;
  if (path == Path::avx2) return masks_avx2;
#endif
  (void)path;
  return masks_scalar;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Bit i: the number of set bits at and below i is odd.
uint64_t running_parity(uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

class Scan {
 public:
  Scan(const char* text, size_t size, bool last, Structure& found)
      : text_(text),
        size_(size),
        walk_(text, size, last),
        found_(found),
        quote_(found.quotes.data()) {}

  void blocks(const Masks* masks, size_t count) {
    for (size_t i = 0; i < count; ++i, at_ += kBlock) block(masks[i]);
  }
  size_t at() const { return at_; }
  size_t quotes() const { return static_cast<size_t>(quote_ - found_.quotes.data()); }

 private:
  void block(const Masks& masks) {
    const uint64_t escaped =
        masks.backslash != 0 || escape_open_ ? escaped_bytes(masks.backslash) : 0;
    const uint64_t quotes = masks.quote & ~escaped;
    for (uint64_t bits = quotes; bits != 0; bits &= bits - 1) {
      *quote_++ = static_cast<uint32_t>(at_ + __builtin_ctzll(bits));
    }
    if ((masks.control | escaped) != 0) {
      const uint64_t inside = running_parity(quotes) ^ (in_string_ ? ~uint64_t{0} : 0);
      check(masks.control & inside, escaped & inside);
    }
    in_string_ ^= __builtin_parityll(quotes) != 0;
    if (masks.high != 0) found_.utf8 &= walk_.sound(at_, at_ + kBlock, /*zeros=*/true);
  }

  /// Bytes behind a backslash that is not escaped itself.
  uint64_t escaped_bytes(uint64_t backslashes) {
    found_.escapes = true;
    uint64_t escaped = escape_open_ ? 1 : 0;
    escape_open_ = false;
    for (uint64_t bits = backslashes; bits != 0; bits &= bits - 1) {
      const unsigned bit = __builtin_ctzll(bits);
      if ((escaped >> bit & 1) != 0) continue;
      if (bit == 63) escape_open_ = true;
      if (bit < 63) escaped |= uint64_t{2} << bit;
    }
    return escaped;
  }

  void check(uint64_t controls, uint64_t escaped) {
    for (uint64_t bits = controls | escaped; bits != 0; bits &= bits - 1) {
      const unsigned bit = __builtin_ctzll(bits);
      const size_t at = at_ + bit;
      if (at >= size_) return;
      if ((controls >> bit & 1) != 0 || !known_escape(at)) {
        found_.faults.push(static_cast<uint32_t>(at));
      }
    }
  }

  bool known_escape(size_t at) const {
    const char c = text_[at];
    if (c != 'u') return c != '\0' && std::strchr("\"\\/bfnrt", c) != nullptr;
    const size_t digits = std::min(size_ - at - 1, size_t{4});  // fewer: the string has no end here
    return std::all_of(text_ + at + 1, text_ + at + 1 + digits, is_hex);
  }

  const char* text_;
  size_t size_;
  Utf8Walk walk_;
  Structure& found_;
  uint32_t* quote_;
  size_t at_ = 0;
  bool in_string_ = false;
  bool escape_open_ = false;
};

}  // namespace

bool path_supported(Path path) {
  if (path == Path::scalar) return true;
#if defined(__x86_64__)
  if (path == Path::avx2) return __builtin_cpu_supports("avx2") != 0;
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#else
  return false;
#endif
}

Path fastest_path() {
  static const Path fastest = path_supported(Path::avx512) ? Path::avx512
                              : path_supported(Path::avx2) ? Path::avx2
                                                           : Path::scalar;
  return fastest;
}

void scan(const char* text, size_t size, bool last, Path path, Structure& found, const Stop* stop) {
  found.quotes.clear();
  found.faults.clear();
  found.escapes = false;
  found.utf8 = true;
  found.quotes.hold(size + kBlock + kSentinels);
  const MaskBlocks masks = masks_of(path);
  Masks batch[kBatch];
  Scan scan(text, size, last, found);
  const size_t whole = size / kBlock;
  for (size_t done = 0; done < whole;) {
    if (stop != nullptr && stop->asked()) return;  // what is left is far more than one block
    const size_t count = std::min(whole - done, kBatch);
    masks(text + done * kBlock, count, batch);
    scan.blocks(batch, count);
    done += count;
  }
  if (scan.at() < size) {
    char rest[kBlock];
    std::memset(rest, ' ', kBlock);
    std::memcpy(rest, text + scan.at(), size - scan.at());
    masks(rest, 1, batch);
    scan.blocks(batch, 1);
  }
  found.quotes.set_size(scan.quotes());
  for (size_t i = 0; i < kSentinels; ++i) found.quotes.push(static_cast<uint32_t>(size));
}

}  // namespace overlap_native
