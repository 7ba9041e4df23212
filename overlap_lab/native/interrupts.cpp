#include "interrupts.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

namespace overlap_native {

namespace {

constexpr int kInterrupted = 130;  // as a shell reports Ctrl-C
constexpr auto kGrace = std::chrono::milliseconds(80);
constexpr auto kLongest = std::chrono::milliseconds(2000);
constexpr auto kStep = std::chrono::milliseconds(5);

std::atomic<bool> told{false};
std::atomic<int> held{0};

bool read_signal(int pipe, unsigned char& number) {
  ssize_t got = 0;
  do {
    got = ::read(pipe, &number, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

void wait_for_end() {
  std::this_thread::sleep_for(kGrace);
  for (auto waited = kGrace; held > 0 && waited < kLongest; waited += kStep) {
    std::this_thread::sleep_for(kStep);
  }
}

void watch(int pipe, const std::string& message) {
  unsigned char number = 0;
  while (read_signal(pipe, number)) {
    if (number != SIGINT) continue;
    wait_for_end();
    if (claim_message()) {
      const ssize_t ignored = ::write(STDERR_FILENO, message.data(), message.size());
      static_cast<void>(ignored);  // a full disk behind stderr: the exit code still says it
    }
    ::_exit(kInterrupted);
  }
}

}  // namespace

void end_after_interrupt(int pipe, std::string message) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for Python's own threads
  try {
    std::thread(watch, pipe, std::move(message)).detach();
  } catch (const std::exception&) {
    // No thread or no memory for one: an interrupt waits for Python's next step.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool claim_message() { return !told.exchange(true); }

void hold_end() { ++held; }
void release_end() { --held; }

}  // namespace overlap_native
