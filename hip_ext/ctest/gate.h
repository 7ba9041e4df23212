// A gate that threads wait at, for every target. Nothing here sleeps or polls.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "check.h"

#define OK(call) CHECK((call) == hipSuccess)

inline constexpr std::chrono::milliseconds patience{100};

/// Opened once; whoever waits passes from then on.
class Gate {
 public:
  void open() {
    std::lock_guard guard(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock guard(mutex_);
    opened_.wait(guard, [this] { return open_; });
  }
  /// For what must not happen: false after `patience` of nothing. A right runtime always uses up
  /// the patience, so a slow machine cannot make the test fail.
  bool opens_within(std::chrono::milliseconds patience) {
    std::unique_lock guard(mutex_);
    return opened_.wait_for(guard, patience, [this] { return open_; });
  }
  bool is_open() {
    std::lock_guard guard(mutex_);
    return open_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};
