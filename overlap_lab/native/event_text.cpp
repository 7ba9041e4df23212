#include "event_text.h"

#include "file_bytes.h"
#include "progress.h"

namespace overlap_native {

size_t FileText::read(uint64_t offset, char* room, size_t size) {
  const size_t found = read_at(file_, offset, room, size);
  progress().add_bytes(found);
  return found;
}

}  // namespace overlap_native
