// The text of a gzip file, unpacked by whichever thread wants more of it first.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "column.h"
#include "event_text.h"
#include "inflate.h"

namespace overlap_native {

class GzipText : public EventText {
 public:
  explicit GzipText(int file);

  size_t read(uint64_t offset, char* room, size_t size) override;
  void let_go(uint64_t offset) override;
  /// Whether the file was read to its end and all of it was sound. Where it is not, or where it
  /// unpacks to suspiciously much, the text ends before it.
  bool sound() const { return state_ == State::ended; }

 private:
  enum class State : uint8_t { head, body, ended, damaged };
  /// A piece of text with what came before it, which later text may repeat.
  struct Block {
    uint64_t begin = 0;  // offset in the text
    size_t size = 0;
    Column<uint8_t> bytes;
  };

  size_t copied(uint64_t offset, char* room, size_t size);
  bool beyond(uint64_t offset);
  bool gone(uint64_t offset);
  std::unique_ptr<Block> next_block();
  std::unique_ptr<Block> free_block();
  void unpack(Block& block);
  void inflate(Inflate::Room& room);
  void more_input();
  bool read_head();
  bool skip_text();
  void end_member();
  size_t left() const { return input_.size() - at_; }
  const uint8_t* input() const { return input_.data() + at_; }
  uint32_t word(size_t offset) const;

  // Of the thread that unpacks.
  std::mutex unpacking_;
  int file_;
  uint64_t read_ = 0, written_ = 0;
  Column<uint8_t> input_;
  size_t at_ = 0;
  bool last_ = false;  // no more input
  Inflate inflate_;
  uint32_t checksum_ = 0;
  uint64_t member_ = 0;  // bytes that the present member unpacked to
  std::atomic<State> state_{State::head};

  std::mutex blocks_mutex_;
  std::deque<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Block>> free_;
  uint64_t end_ = 0;  // of the text in blocks
};

/// Appends all text from an offset on; false where the file is not sound, or there is too much.
bool read_rest(GzipText& text, uint64_t offset, std::string& rest,
               const std::function<void()>& interrupted);

}  // namespace overlap_native
