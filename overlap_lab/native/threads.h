// Work on several threads, which ends early where the caller is interrupted.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace overlap_native {

/// Told to the tasks of one job that their results are no longer wanted. A task looks at it every
/// few milliseconds and returns.
class Stop {
 public:
  bool asked() const { return asked_.load(std::memory_order_relaxed); }
  void ask() { asked_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> asked_{false};
};

using Task = std::function<void(const Stop&)>;

/// The cores that this process may use, at most what OVERLAP_LAB_THREADS says; at least 1.
size_t thread_count();

/// Runs the tasks, each on a thread of its own where the system gives so many, and blocks until all
/// have returned; so none may wait for another. `interrupted` is asked by the calling thread every
/// 30 ms and may throw. What it or the first failing task throws stops the others and is thrown
/// again here.
void run_tasks(const std::vector<Task>& tasks, const std::function<void()>& interrupted);

/// Calls `work(i, stop)` for each i below `count`, on at most as many threads as there are cores,
/// each of which takes the next one that is left. Blocks as `run_tasks` does.
void in_turns(size_t count, const std::function<void(size_t, const Stop&)>& work,
              const std::function<void()>& interrupted);

/// Calls `work(begin, end)` for parts of [0, size) that are no smaller than `grain`, on the calling
/// thread and as many more as there are cores. Blocks until all is done. For work of under 100 ms a
/// part, which is not interrupted.
void for_parts(size_t size, size_t grain, const std::function<void(size_t, size_t)>& work);

}  // namespace overlap_native
