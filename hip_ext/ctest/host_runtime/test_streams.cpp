// Order inside a stream, concurrency between streams, the legacy null stream, idle threads.
#include <time.h>

#include <atomic>
#include <vector>

#include "gate.h"

namespace {

TEST(a_stream_runs_in_order) {
  hipStream_t stream = make_stream();
  std::vector<int> order;
  HeldKernel held(stream);
  for (int i = 0; i < 100; ++i) launch(stream, [&order, i] { order.push_back(i); });
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[i] == i);
  OK(hipStreamDestroy(stream));
}

TEST(two_streams_run_at_the_same_time) {
  // A rendezvous: each kernel waits for the other to have started.
  hipStream_t first = make_stream(), second = make_stream();
  Gate a, b;
  launch(first, [&] { a.open(), b.wait(); });
  launch(second, [&] { b.open(), a.wait(); });
  OK(hipDeviceSynchronize());
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

TEST(a_non_blocking_stream_overlaps_the_null_stream) {
  hipStream_t exempt = make_stream(hipStreamNonBlocking);
  Gate a, b;
  launch(nullptr, [&] { a.open(), b.wait(); });
  launch(exempt, [&] { b.open(), a.wait(); });
  OK(hipDeviceSynchronize());
  OK(hipStreamDestroy(exempt));
}

TEST(the_null_stream_waits_for_every_blocking_stream) {
  hipStream_t first = make_stream(), second = make_stream();
  HeldKernel held_first(first), held_second(second);
  Gate ran;
  launch(nullptr, [&] { ran.open(); });
  CHECK(!ran.opens_within(patience));
  held_first.release();
  OK(hipStreamSynchronize(first));
  CHECK(!ran.opens_within(patience));
  CHECK(hipStreamQuery(nullptr) == hipErrorNotReady);
  held_second.release();
  OK(hipStreamSynchronize(nullptr));
  CHECK(ran.is_open());
  for (hipStream_t stream : {first, second}) OK(hipStreamDestroy(stream));
}

TEST(blocking_streams_wait_for_the_null_stream) {
  hipStream_t stream = make_stream();
  HeldKernel held(nullptr);
  Gate ran;
  launch(stream, [&] { ran.open(); });
  held.wait_started();
  CHECK(!ran.opens_within(patience));
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(ran.is_open());
  OK(hipStreamDestroy(stream));
}

TEST(work_enqueued_before_the_null_stream_does_not_wait_for_it) {
  // Only earlier work counts, in both directions: no cycle.
  hipStream_t first = make_stream(), second = make_stream();
  std::vector<int> order;
  launch(first, [&] { order.push_back(0); });
  launch(nullptr, [&] { order.push_back(1); });
  launch(second, [&] { order.push_back(2); });
  launch(nullptr, [&] { order.push_back(3); });
  launch(first, [&] { order.push_back(4); });
  OK(hipDeviceSynchronize());
  CHECK((order == std::vector<int>{0, 1, 2, 3, 4}));
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

TEST(the_null_stream_does_not_wait_for_a_non_blocking_stream) {
  hipStream_t exempt = make_stream(hipStreamNonBlocking);
  HeldKernel held(exempt);
  std::atomic<bool> ran{false};
  launch(nullptr, [&] { ran = true; });
  OK(hipStreamSynchronize(nullptr));
  CHECK(ran);
  CHECK(hipStreamQuery(nullptr) == hipSuccess);
  CHECK(hipStreamQuery(exempt) == hipErrorNotReady);
  held.release();
  OK(hipStreamDestroy(exempt));
}

TEST(synchronizing_one_stream_leaves_another_running) {
  hipStream_t busy = make_stream(), other = make_stream();
  HeldKernel held(busy);
  launch(other, [] {});
  OK(hipStreamSynchronize(other));
  CHECK(hipStreamQuery(busy) == hipErrorNotReady);
  held.release();
  OK(hipDeviceSynchronize());
  CHECK(hipStreamQuery(busy) == hipSuccess);
  OK(hipStreamDestroy(busy));
  OK(hipStreamDestroy(other));
}

TEST(synchronizing_a_stream_waits_for_it) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  Call wait([&] { OK(hipStreamSynchronize(stream)); });
  CHECK(!wait.returns_within(patience));
  held.release();
  wait.wait();
  OK(hipStreamDestroy(stream));
}

TEST(synchronizing_the_null_stream_waits_for_blocking_streams) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  Call wait([] { OK(hipStreamSynchronize(nullptr)); });
  CHECK(!wait.returns_within(patience));
  CHECK(hipStreamQuery(nullptr) == hipErrorNotReady);
  held.release();
  wait.wait();
  OK(hipStreamDestroy(stream));
}

TEST(synchronizing_the_device_waits_for_non_blocking_streams_too) {
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  HeldKernel held(stream);
  Call wait([] { OK(hipDeviceSynchronize()); });
  CHECK(!wait.returns_within(patience));
  held.release();
  wait.wait();
  OK(hipStreamDestroy(stream));
}

TEST(a_wait_covers_earlier_work_only) {
  hipStream_t stream = make_stream();
  HeldKernel first(stream);
  HeldKernel second(stream);
  Call wait([&] { OK(hipStreamSynchronize(stream)); });
  CHECK(!wait.returns_within(patience));
  HeldKernel later(stream);
  first.release();
  second.release();
  wait.wait();
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  later.release();
  OK(hipStreamDestroy(stream));
}

TEST(destroying_a_stream_finishes_its_work) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  std::atomic<bool> ran{false};
  launch(stream, [&] { ran = true; });
  Call destroy([&] { OK(hipStreamDestroy(stream)); });
  CHECK(!destroy.returns_within(patience));
  held.release();
  destroy.wait();
  CHECK(ran);
}

TEST(a_launch_never_waits_however_long_the_queue) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  std::atomic<int> ran{0};
  for (int i = 0; i < 20'000; ++i) launch(stream, [&] { ++ran; });
  CHECK(ran == 0);
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(ran == 20'000);
  OK(hipStreamDestroy(stream));
}

TEST(what_a_kernel_captured_is_gone_when_it_is_done) {
  hipStream_t stream = make_stream();
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = value;
  launch(stream, [value = std::move(value)] { CHECK(*value == 1); });
  OK(hipStreamSynchronize(stream));
  CHECK(watch.expired());
  OK(hipStreamDestroy(stream));
}

TEST(what_a_kernel_captured_may_call_the_runtime_when_it_dies) {
  hipStream_t stream = make_stream();
  bool died_before_done = false;
  std::shared_ptr<int> value(new int(1), [&, stream](int* owned) {
    died_before_done = hipStreamQuery(stream) == hipErrorNotReady;
    delete owned;
  });
  launch(stream, [value = std::move(value)] { CHECK(*value == 1); });
  OK(hipStreamSynchronize(stream));
  CHECK(died_before_done);
  OK(hipStreamDestroy(stream));
}

int64_t process_cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

TEST(idle_streams_and_blocked_waits_use_no_cpu) {
  std::vector<hipStream_t> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(make_stream());
  OK(hipDeviceSynchronize());
  HeldKernel held(streams[0]);
  launch(nullptr, [] {});  // a stream thread that waits for another stream
  Call waiter([] { OK(hipDeviceSynchronize()); });
  CHECK(!waiter.returns_within(patience));
  // The pause is what is measured, it stands for no work: a spinning thread would use all of it.
  const int64_t before = process_cpu_ns();
  const timespec pause{0, 300'000'000};
  nanosleep(&pause, nullptr);
  CHECK(process_cpu_ns() - before < 30'000'000);
  held.release();
  waiter.wait();
  for (hipStream_t stream : streams) OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
