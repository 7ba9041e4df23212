#include "interned.h"

#include <cstring>

namespace overlap_native {

namespace {

constexpr uint64_t kFirst = 0x9e3779b97f4a7c15ULL;
constexpr uint64_t kSecond = 0xd6e8feb86659fd93ULL;
constexpr size_t kFewest = 1024;
constexpr size_t kLong = 64;  // bytes of a text that is hashed in blocks

uint64_t mixed(uint64_t left, uint64_t right) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t eight(const char* text) {
  uint64_t value;
  std::memcpy(&value, text, sizeof value);
  return value;
}

/// Takes blocks of 32 bytes off a text while there are any: four hashes that need not wait for each
/// other.
uint64_t hash_of_blocks(const char*& at, size_t& left) {
  constexpr size_t kBlock = 32;
  uint64_t lanes[] = {kFirst, kSecond, ~kFirst, ~kSecond};
  for (; left >= kBlock; left -= kBlock, at += kBlock) {
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = mixed(lanes[lane] ^ eight(at + 8 * lane), kSecond);
    }
  }
  return mixed(mixed(lanes[0], kFirst) ^ lanes[1], kSecond) ^
         mixed(mixed(lanes[2], kFirst) ^ lanes[3], kFirst);
}

}  // namespace

uint64_t hash_of(std::string_view text) {
  uint64_t hash = kFirst ^ text.size();
  const char* at = text.data();
  size_t left = text.size();
  if (left >= kLong) hash ^= hash_of_blocks(at, left);
  for (; left > 8; left -= 8, at += 8) hash = mixed(hash ^ eight(at), kSecond);
  uint64_t last = 0;
  if (left != 0) std::memcpy(&last, at, left);
  return mixed(hash ^ last, kFirst);
}

std::string_view Interned::operator[](size_t code) const {
  const uint64_t begin = code == 0 ? 0 : ends_[code - 1];
  return {bytes_.data() + begin, static_cast<size_t>(ends_[code] - begin)};
}

uint32_t Interned::code_of(std::string_view text) {
  if (2 * ends_.size() >= slots_.size()) grow();
  const uint64_t hash = hash_of(text);
  size_t at = hash & mask_;
  for (; slots_[at].code != 0; at = (at + 1) & mask_) {
    const Slot slot = slots_[at];
    if (slot.hash == hash && (*this)[slot.code - 1] == text) return slot.code - 1;
  }
  const auto code = static_cast<uint32_t>(ends_.size());
  bytes_.append(text.data(), text.size());
  ends_.push(bytes_.size());
  slots_[at] = {hash, code + 1};
  return code;
}

void Interned::clear() {
  if (size() == 0) return;
  bytes_.clear();
  ends_.clear();
  std::memset(static_cast<void*>(slots_.data()), 0, slots_.size() * sizeof(Slot));
}

void Interned::grow() {
  const size_t size = slots_.size() == 0 ? kFewest : 2 * slots_.size();
  Column<Slot> larger;
  larger.hold(size);
  larger.set_size(size);
  std::memset(static_cast<void*>(larger.data()), 0, size * sizeof(Slot));
  mask_ = size - 1;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].code == 0) continue;
    size_t at = slots_[i].hash & mask_;
    while (larger[at].code != 0) at = (at + 1) & mask_;
    larger[at] = slots_[i];
  }
  slots_ = std::move(larger);
}

}  // namespace overlap_native
