// Threads that are stopped: the laws hold also under ThreadSanitizer, which sees what races.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "event_parts.h"
#include "law.h"
#include "long_members.h"
#include "threads.h"

namespace {

std::atomic<int> given_before_none{-1};  // so many blocks this thread gets; -1: all
std::thread::id refused;

}  // namespace

void* operator new(size_t size) {
  if (given_before_none >= 0 && std::this_thread::get_id() == refused && given_before_none-- == 0) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

using fuzz::require;
using overlap_native::Stop;
using overlap_native::Task;

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

template <class Error, class Work>
bool throws(const Work& work) {
  try {
    work();
  } catch (const Error&) {
    return true;
  }
  return false;
}

void wait_for(const Stop& stop) {
  while (!stop.asked()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void an_interrupt_stops_all_tasks() {
  const std::vector<Task> tasks(4, wait_for);
  require(
      throws<Interrupted>([&] { overlap_native::run_tasks(tasks, [] { throw Interrupted(); }); }),
      "what the caller throws comes out");
}

void a_failure_stops_the_others() {
  const std::vector<Task> tasks = {wait_for, [](const Stop&) { throw std::length_error("x"); },
                                   wait_for};
  require(throws<std::length_error>([&] { overlap_native::run_tasks(tasks, [] {}); }),
          "what a task throws comes out");
}

/// Calls the work while no thread can be started: none has room for a stack of 64 TiB.
template <class Work>
void without_threads(const Work& work) {
  pthread_attr_t usual, huge;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, size_t{1} << 46);
  require(pthread_setattr_default_np(&huge) == 0, "the size of a stack is set");
  require(throws<std::system_error>([] { std::thread([] {}).join(); }), "no thread starts");
  work();
  pthread_setattr_default_np(&usual);
}

void tasks_run_where_no_thread_is_to_be_had() {
  std::atomic<int> ran{0};
  const std::vector<Task> tasks(5, [&ran](const Stop&) { ++ran; });
  without_threads([&] { overlap_native::run_tasks(tasks, [] {}); });
  require(ran == 5, "each task ran once");
  without_threads([] {
    require(throws<std::length_error>([] {
              overlap_native::run_tasks({[](const Stop&) { throw std::length_error("x"); }}, [] {});
            }),
            "what a task throws comes out");
  });
}

void parts_cover_all_rows_once() {
  constexpr size_t kRows = 100003;
  std::vector<int> met(kRows);
  std::atomic<size_t> parts{0};
  overlap_native::for_parts(kRows, 10, [&](size_t begin, size_t end) {
    ++parts;
    for (size_t row = begin; row < end; ++row) ++met[row];
  });
  for (const int times : met) require(times == 1, "each row is met once");
  require(parts >= overlap_native::thread_count(), "there is a part for each core");
}

void a_failure_in_a_part_comes_out() {
  const auto fail = [](size_t, size_t) { throw std::length_error("x"); };
  for (int i = 0; i < 1000; ++i) {
    require(throws<std::length_error>([&] { overlap_native::for_parts(100, 1, fail); }),
            "what a part throws comes out, and no part outlives it");
  }
}

/// The job is done by fewer threads, or fails before any has begun.
void without_memory_for_a_thread_no_part_outlives_the_job() {
  constexpr size_t kParts = 100;
  refused = std::this_thread::get_id();
  for (int given = 0; given < 12; ++given) {
    const auto met = std::make_shared<std::atomic<size_t>>(0);
    const std::function<void(size_t, size_t)> work = [met](size_t begin, size_t end) {
      std::this_thread::yield();
      *met += end - begin;
    };
    given_before_none = given;
    const bool failed = throws<std::bad_alloc>([&] { overlap_native::for_parts(kParts, 1, work); });
    given_before_none = -1;
    require(*met == (failed ? 0 : kParts), "all of the work is done, or none");
    require(!failed || given == 0, "only without memory for the job itself none is");
  }
}

/// A list without an end, which an interrupt leaves unread.
void an_interrupt_stops_the_reading_of_a_file() {
  constexpr size_t kEvents = 400000;
  std::string text = "[";
  for (size_t i = 0; i < kEvents; ++i) {
    text +=
        R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1.5, "dur": 2, "args": {"stream": 7}},)";
  }
  const int file = memfd_create("events", MFD_CLOEXEC);
  require(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "written");
  overlap_native::FileText events(file);
  overlap_native::EventParser parser(overlap_native::fastest_path());
  const overlap_native::PartSize parts{1 << 12, 4};
  const bool stopped = throws<Interrupted>(
      [&] { overlap_native::parse_parts(events, 1, parts, parser, [] { throw Interrupted(); }); });
  close(file);
  require(stopped || parser.events == kEvents, "the reading stops, or was done before 30 ms");
}

/// Of a text of many blocks, whichever block it had come to.
void a_scan_that_is_stopped_reads_no_further() {
  const std::string text = R"({"a": [)" + std::string(1 << 20, ' ') + "1]}";
  Stop stop;
  stop.ask();
  overlap_native::LongMembers found;
  require(!overlap_native::long_members(text.data(), text.size() - overlap_native::kMembersMargin,
                                        1, overlap_native::fastest_path(), found, stop),
          "nothing is found in a text that was not read");
  require(found.values.empty(), "and no value is told of");
}

}  // namespace

int main() {
  an_interrupt_stops_all_tasks();
  a_failure_stops_the_others();
  tasks_run_where_no_thread_is_to_be_had();
  parts_cover_all_rows_once();
  a_failure_in_a_part_comes_out();
  without_memory_for_a_thread_no_part_outlives_the_job();
  an_interrupt_stops_the_reading_of_a_file();
  a_scan_that_is_stopped_reads_no_further();
  return 0;
}
