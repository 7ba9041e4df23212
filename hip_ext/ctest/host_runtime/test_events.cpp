// Events: what they wait for, across streams and on the host.
#include <atomic>

#include "gate.h"

namespace {

hipEvent_t make_event(unsigned flags = hipEventDefault) {
  hipEvent_t event = nullptr;
  OK(hipEventCreateWithFlags(&event, flags));
  return event;
}

TEST(a_stream_waits_for_an_event_of_another) {
  hipStream_t first = make_stream(hipStreamNonBlocking), second = make_stream(hipStreamNonBlocking);
  hipEvent_t event = make_event();
  HeldKernel held(first);
  OK(hipEventRecord(event, first));
  OK(hipStreamWaitEvent(second, event, 0));
  Gate ran;
  launch(second, [&] { ran.open(); });
  held.wait_started();
  CHECK(!ran.opens_within(patience));
  held.release();
  OK(hipStreamSynchronize(second));
  CHECK(ran.is_open());
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

TEST(an_event_covers_only_what_was_enqueued_before_it) {
  hipStream_t stream = make_stream(), other = make_stream();
  hipEvent_t event = make_event();
  launch(stream, [] {});
  OK(hipEventRecord(event, stream));
  HeldKernel later(stream);
  OK(hipStreamWaitEvent(other, event, 0));
  launch(other, [] {});
  OK(hipStreamSynchronize(other));
  OK(hipEventSynchronize(event));
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  later.release();
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(a_wait_keeps_the_recording_it_was_made_for) {
  hipStream_t stream = make_stream(), other = make_stream();
  hipEvent_t event = make_event();
  OK(hipEventRecord(event, stream));
  OK(hipStreamWaitEvent(other, event, 0));
  HeldKernel held(stream);
  OK(hipEventRecord(event, stream));  // the new recording waits, the old wait does not
  OK(hipStreamSynchronize(other));
  CHECK(hipEventQuery(event) == hipErrorNotReady);
  held.release();
  OK(hipEventSynchronize(event));
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(synchronizing_an_event_waits_for_it) {
  hipStream_t stream = make_stream();
  hipEvent_t event = make_event(hipEventBlockingSync);
  HeldKernel held(stream);
  OK(hipEventRecord(event, stream));
  CHECK(hipEventQuery(event) == hipErrorNotReady);
  Call wait([&] { OK(hipEventSynchronize(event)); });
  CHECK(!wait.returns_within(patience));
  held.release();
  wait.wait();
  OK(hipEventQuery(event));
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
}

TEST(an_event_outlives_its_destruction_for_those_who_wait) {
  hipStream_t stream = make_stream(hipStreamNonBlocking), other = make_stream(hipStreamNonBlocking);
  hipEvent_t event = make_event();
  HeldKernel held(stream);
  OK(hipEventRecord(event, stream));
  OK(hipStreamWaitEvent(other, event, 0));
  OK(hipEventDestroy(event));
  Gate ran;
  launch(other, [&] { ran.open(); });
  CHECK(!ran.opens_within(patience));
  held.release();
  OK(hipStreamSynchronize(other));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(an_event_that_was_never_recorded_is_done) {
  hipStream_t stream = make_stream();
  hipEvent_t event = make_event();
  OK(hipEventQuery(event));
  OK(hipEventSynchronize(event));
  OK(hipStreamWaitEvent(stream, event, 0));
  OK(hipStreamSynchronize(stream));
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
}

TEST(an_event_on_the_null_stream_follows_blocking_streams) {
  hipStream_t stream = make_stream();
  hipEvent_t event = make_event();
  HeldKernel held(stream);
  OK(hipEventRecord(event, nullptr));
  CHECK(hipEventQuery(event) == hipErrorNotReady);
  held.release();
  OK(hipEventSynchronize(event));
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
}

TEST(elapsed_time_is_that_of_the_device) {
  hipStream_t stream = make_stream();
  hipEvent_t start = make_event(), stop = make_event(), untimed = make_event(hipEventDisableTiming);
  float milliseconds = -1;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipErrorInvalidHandle);
  HeldKernel held(stream);
  OK(hipEventRecord(start, stream));
  HeldKernel between(stream);
  OK(hipEventRecord(stop, stream));
  OK(hipEventRecord(untimed, stream));
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipErrorNotReady);
  held.release();
  between.wait_started();
  Gate never;
  CHECK(!never.opens_within(patience));  // so much device time at least passes between the events
  between.release();
  OK(hipStreamSynchronize(stream));
  OK(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds >= static_cast<float>(patience.count()));
  OK(hipEventElapsedTime(&milliseconds, start, start));
  CHECK(milliseconds == 0);
  CHECK(hipEventElapsedTime(&milliseconds, start, untimed) == hipErrorInvalidHandle);
  for (hipEvent_t event : {start, stop, untimed}) OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
