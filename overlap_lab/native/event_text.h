// Where the text of events comes from, read by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace overlap_native {

class EventText {
 public:
  EventText() = default;
  EventText(const EventText&) = delete;
  EventText& operator=(const EventText&) = delete;
  virtual ~EventText() = default;

  /// Copies what stands at an offset; less than `size` only where the text ends, or cannot be read.
  /// May be called by several threads at once, for offsets behind those that were let go.
  virtual size_t read(uint64_t offset, char* room, size_t size) = 0;
  /// Nothing before the offset will be read again.
  virtual void let_go(uint64_t offset) = 0;
};

/// The text of an open file.
class FileText : public EventText {
 public:
  explicit FileText(int file) : file_(file) {}
  size_t read(uint64_t offset, char* room, size_t size) override;
  void let_go(uint64_t offset) override { (void)offset; }

 private:
  int file_;
};

}  // namespace overlap_native
