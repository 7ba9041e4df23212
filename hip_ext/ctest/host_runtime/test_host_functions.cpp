// hipLaunchHostFunc: order, thread, and the lock that is held meanwhile.
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "gate.h"

namespace {

/// A host function that runs until the test lets it go.
struct HeldFunction {
  Gate started, released;
  explicit HeldFunction(hipStream_t stream) { OK(hipLaunchHostFunc(stream, run, this)); }
  static void run(void* self) {
    auto& held = *static_cast<HeldFunction*>(self);
    held.started.open();
    held.released.wait();
  }
};

void append(void* order, int value) { static_cast<std::vector<int>*>(order)->push_back(value); }

TEST(a_host_function_runs_in_stream_order) {
  hipStream_t stream = make_stream();
  std::vector<int> order;
  for (int round = 0; round < 50; ++round) {
    launch(stream, [&] { append(&order, 0); });
    OK(hipLaunchHostFunc(stream, [](void* o) { append(o, 1); }, &order));
    launch(stream, [&] { append(&order, 2); });
  }
  OK(hipStreamSynchronize(stream));
  CHECK(order.size() == 150);
  for (size_t i = 0; i < order.size(); ++i) CHECK(order[i] == static_cast<int>(i % 3));
  OK(hipStreamDestroy(stream));
}

TEST(later_work_of_the_stream_waits_for_the_host_function) {
  hipStream_t stream = make_stream(), other = make_stream();
  HeldFunction held(stream);
  Gate ran;
  launch(stream, [&] { ran.open(); });
  held.started.wait();
  CHECK(!ran.opens_within(patience));
  launch(other, [] {});
  OK(hipStreamSynchronize(other));  // other streams go on
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  held.released.open();
  OK(hipStreamSynchronize(stream));
  CHECK(ran.is_open());
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(host_functions_run_on_one_thread_of_the_runtime) {
  hipStream_t first = make_stream(), second = make_stream();
  std::thread::id ids[2], kernel_id;
  auto note = [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); };
  OK(hipLaunchHostFunc(first, note, &ids[0]));
  OK(hipLaunchHostFunc(second, note, &ids[1]));
  launch(first, [&] { kernel_id = std::this_thread::get_id(); });
  OK(hipDeviceSynchronize());
  CHECK(ids[0] == ids[1]);
  CHECK(ids[0] != kernel_id && ids[0] != std::this_thread::get_id());
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

TEST(enqueueing_never_waits_for_a_host_function) {
  hipStream_t stream = make_stream(), other = make_stream();
  void *device = nullptr, *pinned = nullptr;
  hipEvent_t event = nullptr;
  OK(hipEventCreate(&event));
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  HeldFunction held(stream);
  held.started.wait();
  // This thread is the one that releases it: any of these calls that waited would hang the test.
  for (hipStream_t target : {stream, other}) {
    launch(target, [] {});
    OK(hipMemsetAsync(device, 0, 64, target));
    OK(hipMemcpyAsync(pinned, device, 64, hipMemcpyDeviceToHost, target));
    OK(hipMemcpyAsync(device, pinned, 64, hipMemcpyHostToDevice, target));
    OK(hipLaunchHostFunc(target, [](void*) {}, nullptr));
    OK(hipEventRecord(event, target));
    OK(hipStreamWaitEvent(other, event, 0));
    (void)hipStreamQuery(target);
  }
  held.released.open();
  OK(hipDeviceSynchronize());
  OK(hipEventDestroy(event));
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(allocating_and_destroying_wait_for_a_running_host_function) {
  // Under the rule of HIP 7, so that it is the lock that holds the frees up.
  hip_host::set_free_waits(false);
  hipStream_t stream = make_stream(), idle = make_stream();
  void *device = nullptr, *pinned = nullptr;
  hipEvent_t event = nullptr;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  OK(hipEventCreate(&event));
  void *more = nullptr, *more_pinned = nullptr;
  HeldFunction held(stream);
  held.started.wait();
  {
    std::deque<Call> calls;
    calls.emplace_back([&] { OK(hipMalloc(&more, 64)); });
    calls.emplace_back([&] { OK(hipHostMalloc(&more_pinned, 64)); });
    calls.emplace_back([&] { OK(hipFree(device)); });
    calls.emplace_back([&] { OK(hipHostFree(pinned)); });
    calls.emplace_back([&] { OK(hipEventDestroy(event)); });
    calls.emplace_back([&] { OK(hipStreamDestroy(idle)); });
    for (Call& call : calls) CHECK(!call.returns_within(patience));
    held.released.open();
  }
  OK(hipFree(more));
  OK(hipHostFree(more_pinned));
  OK(hipStreamDestroy(stream));
  hip_host::set_free_waits(true);
}

TEST(a_free_waits_without_the_lock_so_queued_host_functions_still_run) {
  hipStream_t stream = make_stream();
  void* memory = nullptr;
  OK(hipMalloc(&memory, 64));
  HeldKernel held(stream);
  std::atomic<bool> ran{false};
  OK(hipLaunchHostFunc(
      stream, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ran));
  Call free([&] { OK(hipFree(memory)); });
  CHECK(!free.returns_within(patience));
  held.release();
  free.wait();
  CHECK(ran);
  OK(hipStreamDestroy(stream));
}

/// Frees on a thread of its own what host functions hand to it.
class Releaser {
 public:
  ~Releaser() {
    {
      std::lock_guard guard(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  void enqueue(void* pinned) {
    std::lock_guard guard(mutex_);
    queue_.push_back(pinned);
    changed_.notify_all();
  }
  int released() const { return released_; }

 private:
  void run() {
    std::unique_lock guard(mutex_);
    for (;;) {
      changed_.wait(guard, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      void* pinned = queue_.front();
      queue_.pop_front();
      guard.unlock();
      OK(hipHostFree(pinned));
      ++released_;
      guard.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<void*> queue_;
  std::atomic<int> released_{0};
  bool stop_ = false;
  std::thread worker_{[this] { run(); }};
};

TEST(a_deferred_release_from_a_host_function_works) {
  hipStream_t stream = make_stream();
  struct Tail {
    Releaser* releaser;
    void* pinned;
  };
  std::deque<Tail> tails;
  {
    Releaser releaser;
    for (int i = 0; i < 20; ++i) {
      void* pinned = nullptr;
      OK(hipHostMalloc(&pinned, 64));
      tails.push_back({&releaser, pinned});
      launch(stream, [] {});
      OK(hipLaunchHostFunc(
          stream,
          [](void* data) {
            auto& tail = *static_cast<Tail*>(data);
            tail.releaser->enqueue(tail.pinned);
          },
          &tails.back()));
    }
    OK(hipStreamSynchronize(stream));
  }
  for (const Tail& tail : tails) CHECK(hipHostFree(tail.pinned) == hipErrorInvalidValue);
  OK(hipStreamDestroy(stream));
}

/// Runs one of `forbidden` in a child process, which says "in" from inside the host function and is
/// killed when it has not ended `limit` later.
bool child_hangs(const char* what, std::chrono::milliseconds limit) {
  int channel[2];
  CHECK(pipe(channel) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, channel[0]);
  posix_spawn_file_actions_addclose(&actions, channel[1]);
  const char* arguments[] = {"host_functions", "--forbidden", what, nullptr};
  pid_t child = 0;
  CHECK(posix_spawn(&child, "/proc/self/exe", &actions, nullptr,
                    const_cast<char* const*>(arguments), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(channel[1]);
  char said[3] = {};
  CHECK(read(channel[0], said, 2) == 2 && std::string(said) == "in");
  // The pipe ends with the child: an end of file is a child that did not hang.
  pollfd end{channel[0], POLLIN, 0};
  const bool hung = poll(&end, 1, static_cast<int>(limit.count())) == 0;
  if (hung) kill(child, SIGKILL);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  close(channel[0]);
  CHECK(hung || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return hung;
}

struct Forbidden {
  const char* name;
  bool free_waits;
  hipError_t (*call)(void* memory);
};

hipError_t allocate_more(void*) {
  void* more = nullptr;
  return hipMalloc(&more, 64);
}

const Forbidden forbidden[] = {
    {"hipHostFree", true, hipHostFree},
    {"hipHostFree under HIP 7", false, hipHostFree},
    {"hipMalloc", true, allocate_more},
    {"nothing", true, [](void*) { return hipSuccess; }},
};

int run_forbidden(const std::string& name) {
  for (const Forbidden& entry : forbidden) {
    if (name != entry.name) continue;
    hip_host::set_free_waits(entry.free_waits);
    static void* memory = nullptr;
    static const Forbidden* chosen = &entry;
    OK(hipHostMalloc(&memory, 64));
    hipStream_t stream = make_stream();
    OK(hipLaunchHostFunc(
        stream,
        [](void*) {
          CHECK(write(STDOUT_FILENO, "in", 2) == 2);
          OK(chosen->call(memory));
        },
        nullptr));
    OK(hipStreamSynchronize(stream));
    return 0;
  }
  return 2;
}

TEST(freeing_inside_a_host_function_deadlocks) {
  const std::chrono::milliseconds limit{1000};
  CHECK(child_hangs("hipHostFree", limit));
  CHECK(child_hangs("hipHostFree under HIP 7", limit));
  CHECK(child_hangs("hipMalloc", limit));
}

TEST(a_host_function_that_frees_nothing_does_not_deadlock) {
  // The same child with the call left out: the hang above is the call's doing.
  CHECK(!child_hangs("nothing", std::chrono::milliseconds{60'000}));
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string(arguments[1]) == "--forbidden") return run_forbidden(arguments[2]);
  return check::run_all(count, arguments);
}
