// The text of a gzip file given to a reader, piece by piece, while another thread unpacks what
// follows.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "gzip_text.h"
#include "threads.h"

namespace overlap_native {

/// Unpacks up to so much more than was used, until all is unpacked or used.
inline void unpack_ahead(GzipText& text, uint64_t begin, const std::atomic<uint64_t>& used,
                         const std::atomic<bool>& done, const Stop& stop) {
  constexpr uint64_t kAhead = 4 << 20;
  constexpr uint64_t kStep = 1 << 17;
  char room = 0;
  for (uint64_t at = begin; !done && !stop.asked();) {
    if (at >= used + kAhead) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      continue;
    }
    at = std::max<uint64_t>(at, used);
    if (text.read(at, &room, 1) == 0) return;
    at += kStep;
  }
}

/// Whether the reader took all of the text from `begin` on, and the file is sound.
template <class Reader>
bool read_gzip(int file, uint64_t begin, Reader& reader, const std::function<void()>& interrupted) {
  GzipText text(file);
  std::atomic<uint64_t> used{begin};
  std::atomic<bool> done{false};
  bool taken = true;
  const Task read = [&](const Stop& stop) {
    for (bool last = false; taken && !last && !stop.asked();) {
      const size_t size = reader.wanted();
      const size_t got = text.read(used, reader.room(size), size);
      last = got < size;
      used += got;
      text.let_go(used);
      taken = reader.read(got, last) && (!last || text.sound());
    }
    done = true;
  };
  const Task ahead = [&](const Stop& stop) { unpack_ahead(text, begin, used, done, stop); };
  std::vector<Task> tasks{read};
  if (thread_count() > 1) tasks.push_back(ahead);
  run_tasks(tasks, interrupted);
  return taken;
}

}  // namespace overlap_native
