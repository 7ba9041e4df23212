#include "threads.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace overlap_native {

namespace {

constexpr auto kBetweenAsks = std::chrono::milliseconds(30);
constexpr size_t kPartsOfThread = 4;  // so that a core that is busy with other work holds up less

size_t usable_cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof(usable), &usable) == 0) {
    return static_cast<size_t>(CPU_COUNT(&usable));
  }
  return std::thread::hardware_concurrency();  // more cores than the set can name
}

/// The threads of one job, and the first thing that went wrong in it. Where no more threads are to
/// be had, those that there are take the tasks that are left, without any the caller does.
class Job {
 public:
  explicit Job(const std::vector<Task>& tasks) : tasks_(tasks), running_(tasks.size()) {
    threads_.reserve(tasks.size());
    while (threads_.size() < tasks.size() && start()) {
    }
    if (threads_.empty()) run();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void wait(const std::function<void()>& interrupted) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!done_.wait_for(lock, kBetweenAsks, [this] { return running_ == 0; })) {
      if (stop_.asked()) continue;
      lock.unlock();
      try {
        interrupted();
      } catch (...) {
        fail(std::current_exception());
      }
      lock.lock();
    }
    lock.unlock();
    for (std::thread& thread : threads_) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool start() {
    try {
      threads_.emplace_back([this] { run(); });
      return true;
    } catch (...) {  // no more threads to be had, or no memory for one
      return false;
    }
  }
  void run() {
    for (size_t at = next_++; at < tasks_.size(); at = next_++) {
      try {
        tasks_[at](stop_);
      } catch (...) {
        fail(std::current_exception());
      }
      finish();
    }
  }
  void fail(std::exception_ptr what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::move(what);
    stop_.ask();
  }
  void finish() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --running_;
    done_.notify_all();
  }

  const std::vector<Task>& tasks_;
  std::atomic<size_t> next_{0};
  Stop stop_;
  std::mutex mutex_;
  std::condition_variable done_;
  size_t running_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

/// Parts of one job that threads take in turns. A thread that the system starts late finds the job
/// closed: nobody waits for it, and it touches nothing but this.
class Parts {
 public:
  using Work = std::function<void(size_t, size_t)>;
  Parts(size_t size, size_t parts, const Work& work) : size_(size), parts_(parts), work_(&work) {}

  void take() {
    for (size_t part = next_++; part < parts_; part = next_++) {
      const size_t begin = size_ / parts_ * part + std::min(part, size_ % parts_);
      try {
        (*work_)(begin, begin + size_ / parts_ + (part < size_ % parts_ ? 1 : 0));
      } catch (...) {
        next_ = parts_;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    }
  }
  void help() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      ++inside_;
    }
    take();
    const std::lock_guard<std::mutex> lock(mutex_);
    --inside_;
    left_.notify_all();
  }
  void close() {
    std::unique_lock<std::mutex> lock(mutex_);
    closed_ = true;
    left_.wait(lock, [this] { return inside_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const size_t size_, parts_;
  const Work* const work_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable left_;
  size_t inside_ = 0;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace

size_t thread_count() {
  size_t count = usable_cores();
  if (const char* limit = std::getenv("OVERLAP_LAB_THREADS")) {
    const unsigned long asked = std::strtoul(limit, nullptr, 10);
    if (asked != 0) count = std::min<size_t>(count, asked);
  }
  return std::max<size_t>(count, 1);
}

void run_tasks(const std::vector<Task>& tasks, const std::function<void()>& interrupted) {
  Job(tasks).wait(interrupted);
}

void in_turns(size_t count, const std::function<void(size_t, const Stop&)>& work,
              const std::function<void()>& interrupted) {
  std::atomic<size_t> next{0};
  const Task turns = [&](const Stop& stop) {
    for (size_t at = next++; at < count && !stop.asked(); at = next++) work(at, stop);
  };
  run_tasks(std::vector<Task>(std::min(thread_count(), count), turns), interrupted);
}

void for_parts(size_t size, size_t grain, const std::function<void(size_t, size_t)>& work) {
  const size_t most = size / std::max<size_t>(grain, 1);
  const size_t threads = std::min(thread_count(), most);
  if (threads <= 1) return work(0, size);
  const auto parts = std::make_shared<Parts>(size, std::min(threads * kPartsOfThread, most), work);
  for (size_t other = 1; other < threads; ++other) {
    try {
      std::thread([parts] { parts->help(); }).detach();
    } catch (const std::exception&) {  // no more threads, or memory for one: there is this one
      break;
    }
  }
  parts->take();
  parts->close();
}

}  // namespace overlap_native
