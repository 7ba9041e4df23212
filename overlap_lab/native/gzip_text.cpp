#include "gzip_text.h"

#include <algorithm>
#include <cstring>

#include "crc32.h"
#include "file_bytes.h"
#include "progress.h"

namespace overlap_native {

namespace {

constexpr size_t kHistory = 1 << 15;
constexpr size_t kBlock = 1 << 19;
constexpr size_t kInput = 1 << 17;
constexpr size_t kLongestHead = 1 << 16;
// As `loaders/packed.py`, which says what is wrong with such a file.
constexpr uint64_t kMostBytes = uint64_t{8} << 30;
constexpr uint64_t kFreeBytes = uint64_t{64} << 20;
constexpr uint64_t kMostRatio = 300;

constexpr uint8_t kHeadChecksum = 2, kExtra = 4, kName = 8, kComment = 16, kReserved = 0xe0;

}  // namespace

GzipText::GzipText(int file) : file_(file) {
  input_.hold(kInput + kLongestHead + Inflate::kTextMargin);
}

size_t GzipText::read(uint64_t offset, char* room, size_t size) {
  size_t done = 0;
  while (true) {
    done += copied(offset + done, room + done, size - done);
    if (done == size) return done;
    const std::lock_guard<std::mutex> mine(unpacking_);
    if (gone(offset + done)) return done;
    if (beyond(offset + done)) continue;  // another thread has unpacked it meanwhile
    std::unique_ptr<Block> block = next_block();
    if (block == nullptr) return done;
    const std::lock_guard<std::mutex> lock(blocks_mutex_);
    end_ += block->size;
    blocks_.push_back(std::move(block));
  }
}

size_t GzipText::copied(uint64_t offset, char* room, size_t size) {
  const std::lock_guard<std::mutex> lock(blocks_mutex_);
  size_t done = 0;
  for (const auto& block : blocks_) {
    if (done == size) break;
    const uint64_t at = offset + done;
    if (at < block->begin || at >= block->begin + block->size) continue;
    const size_t count = std::min<size_t>(size - done, block->begin + block->size - at);
    std::memcpy(room + done, block->bytes.data() + kHistory + (at - block->begin), count);
    done += count;
  }
  return done;
}

bool GzipText::beyond(uint64_t offset) {
  const std::lock_guard<std::mutex> lock(blocks_mutex_);
  return end_ > offset;
}

bool GzipText::gone(uint64_t offset) {
  const std::lock_guard<std::mutex> lock(blocks_mutex_);
  return !blocks_.empty() && offset < blocks_.front()->begin;
}

/// The last block stays: the next one begins with its end.
void GzipText::let_go(uint64_t offset) {
  const std::lock_guard<std::mutex> lock(blocks_mutex_);
  while (blocks_.size() > 1 && blocks_.front()->begin + blocks_.front()->size <= offset) {
    free_.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
  }
}

std::unique_ptr<GzipText::Block> GzipText::free_block() {
  const std::lock_guard<std::mutex> lock(blocks_mutex_);
  std::unique_ptr<Block> block;
  if (free_.empty()) {
    block = std::make_unique<Block>();
    block->bytes.hold(kHistory + kBlock);
  } else {
    block = std::move(free_.back());
    free_.pop_back();
  }
  block->begin = end_;
  if (!blocks_.empty()) {
    const Block& before = *blocks_.back();
    std::memcpy(block->bytes.data(), before.bytes.data() + before.size, kHistory);
  }
  return block;
}

std::unique_ptr<GzipText::Block> GzipText::next_block() {
  if (state_ == State::ended || state_ == State::damaged) return nullptr;
  std::unique_ptr<Block> block = free_block();
  unpack(*block);
  return block->size == 0 ? nullptr : std::move(block);
}

void GzipText::unpack(Block& block) {
  uint8_t* const begin = block.bytes.data() + kHistory;
  Inflate::Room room{begin - std::min<uint64_t>(kHistory, member_), begin, begin + kBlock};
  bool full = false;
  while (!full && (state_ == State::head || state_ == State::body)) {
    if (state_ == State::head) {
      if (!read_head()) continue;
      room.history = room.at;
    }
    inflate(room);
    full = room.end - room.at < static_cast<ptrdiff_t>(Inflate::kRoomMargin);
  }
  block.size = static_cast<size_t>(room.at - begin);
  if (state_ == State::damaged) block.size = 0;  // its checksum was not seen
}

/// Into the room, up to the end of the member.
void GzipText::inflate(Inflate::Room& room) {
  const uint8_t* const from = room.at;
  Inflate::State state = Inflate::State::wants_text;
  while (state == Inflate::State::wants_text) {
    if (!last_) more_input();
    Inflate::Text text{input(), input_.data() + input_.size(), last_};
    state = inflate_.run(text, room);
    at_ = static_cast<size_t>(text.at - input_.data());
  }
  const auto size = static_cast<size_t>(room.at - from);
  checksum_ = crc32(checksum_, from, size);
  member_ += size;
  written_ += size;
  if (state == Inflate::State::damaged || written_ > kMostBytes ||
      (written_ > kFreeBytes && written_ > kMostRatio * read_)) {
    state_ = State::damaged;
  } else if (state == Inflate::State::done) {
    end_member();
  }
}

/// The margin behind the last input is zero.
void GzipText::more_input() {
  if (last_ || left() >= kLongestHead) return;
  std::memmove(input_.data(), input(), left());
  input_.set_size(left());
  at_ = 0;
  auto* room = reinterpret_cast<char*>(input_.data()) + input_.size();
  const size_t more = read_at(file_, read_, room, kInput);
  progress().add_bytes(more);
  read_ += more;
  last_ = more < kInput;
  input_.set_size(input_.size() + more);
  std::memset(input_.data() + input_.size(), 0, Inflate::kTextMargin);
}

uint32_t GzipText::word(size_t offset) const {
  uint32_t value;
  std::memcpy(&value, input() + offset, sizeof value);
  return value;
}

/// What stands before a member; false where there is none any more.
bool GzipText::read_head() {
  more_input();
  constexpr size_t kFixed = 10;
  const uint8_t* head = input();
  if (left() < kFixed || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 ||
      (head[3] & (kReserved | kHeadChecksum)) != 0) {
    state_ = State::damaged;
    return false;
  }
  const uint8_t flags = head[3];
  at_ += kFixed;
  if ((flags & kExtra) != 0 && left() >= 2) {
    at_ += std::min<size_t>(left(), size_t{2} + static_cast<size_t>(input()[0] | input()[1] << 8));
  }
  bool whole = true;
  if ((flags & kName) != 0) whole = skip_text();
  if ((flags & kComment) != 0) whole = whole && skip_text();
  state_ = whole ? State::body : State::damaged;
  inflate_.restart();
  checksum_ = 0;
  member_ = 0;
  return whole;
}

/// Text that a zero byte ends.
bool GzipText::skip_text() {
  const void* end = std::memchr(input(), 0, left());
  if (end != nullptr)
    at_ = static_cast<size_t>(static_cast<const uint8_t*>(end) - input_.data()) + 1;
  return end != nullptr;
}

void GzipText::end_member() {
  more_input();
  if (left() < 8 || word(0) != checksum_ || word(4) != static_cast<uint32_t>(member_)) {
    state_ = State::damaged;
    return;
  }
  at_ += 8;
  while (true) {  // members may be filled up with zeros
    more_input();
    while (left() != 0 && *input() == 0) ++at_;
    if (left() != 0 || last_) break;
  }
  state_ = left() == 0 ? State::ended : State::head;
}

bool read_rest(GzipText& text, uint64_t offset, std::string& rest,
               const std::function<void()>& interrupted) {
  constexpr size_t kMost = 1 << 26;
  constexpr size_t kStep = 1 << 18;
  size_t found = kStep;
  while (found == kStep && rest.size() < kMost) {
    const size_t size = rest.size();
    rest.resize(size + kStep);
    found = text.read(offset + size, rest.data() + size, kStep);
    rest.resize(size + found);
    text.let_go(offset + rest.size());
    interrupted();
  }
  return found < kStep && text.sound();
}

}  // namespace overlap_native
