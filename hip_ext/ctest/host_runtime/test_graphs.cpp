// Capture and replay, and what a capture forbids.
#include <atomic>
#include <vector>

#include "gate.h"

namespace {

hipGraphExec_t instantiate(hipStream_t stream) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphDestroy(graph));
  return exec;
}

hipStreamCaptureStatus status_of(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  OK(hipStreamIsCapturing(stream, &status));
  return status;
}

/// Ends a capture that something has spoiled: no graph, and the stream is usable again.
void end_invalidated(hipStream_t stream) {
  hipGraph_t graph = reinterpret_cast<hipGraph_t>(1);
  CHECK(hipStreamEndCapture(stream, &graph) == hipErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  CHECK(status_of(stream) == hipStreamCaptureStatusNone);
  launch(stream, [] {});
  OK(hipStreamSynchronize(stream));
}

TEST(a_captured_sequence_runs_only_when_it_is_launched_and_as_often) {
  hipStream_t stream = make_stream();
  char *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 8));
  OK(hipHostMalloc(&pinned, 8));
  static int packed = 0;
  packed = 0;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  CHECK(status_of(stream) == hipStreamCaptureStatusActive);
  OK(hipMemsetAsync(device, 1, 8, stream));
  OK(hipMemcpyAsync(pinned, device, 8, hipMemcpyDeviceToHost, stream));
  OK(hipLaunchHostFunc(stream, [](void* p) { ++packed, static_cast<char*>(p)[0] = 41; }, pinned));
  OK(hipMemcpyAsync(device, pinned, 8, hipMemcpyHostToDevice, stream));
  launch(stream, [device] { ++device[0]; });
  hipGraphExec_t exec = instantiate(stream);
  OK(hipStreamSynchronize(stream));
  CHECK(packed == 0);
  for (int replay = 1; replay <= 100; ++replay) {
    OK(hipGraphLaunch(exec, stream));
    if (replay % 10 != 0) continue;
    OK(hipStreamSynchronize(stream));
    CHECK(packed == replay);
    CHECK(device[0] == 42 && device[7] == 1);
  }
  OK(hipGraphExecDestroy(exec));
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(stream));
}

TEST(each_replay_starts_from_the_captured_body) {
  hipStream_t stream = make_stream();
  std::vector<int> seen;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  launch(stream, [&seen, counter = 0]() mutable { seen.push_back(++counter); });
  hipGraphExec_t exec = instantiate(stream);
  for (int i = 0; i < 3; ++i) OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  CHECK((seen == std::vector<int>{1, 1, 1}));
  OK(hipGraphExecDestroy(exec));
  OK(hipStreamDestroy(stream));
}

TEST(a_graph_owns_what_was_captured_until_it_is_destroyed) {
  hipStream_t stream = make_stream();
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = value;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  launch(stream, [value = std::move(value)] { ++*value; });
  hipGraphExec_t exec = instantiate(stream);
  OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  CHECK(!watch.expired() && *watch.lock() == 2);
  HeldKernel held(stream);
  OK(hipGraphLaunch(exec, stream));
  OK(hipGraphExecDestroy(exec));  // a launch that is queued still runs
  CHECK(!watch.expired());
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(watch.expired());
  OK(hipStreamDestroy(stream));
}

TEST(launches_of_one_exec_follow_each_other_across_streams) {
  hipStream_t first = make_stream(hipStreamNonBlocking), second = make_stream(hipStreamNonBlocking);
  Gate released;
  std::atomic<int> running{0}, overlapped{0}, done{0};
  OK(hipStreamBeginCapture(first, hipStreamCaptureModeThreadLocal));
  launch(first, [&] {
    if (++running > 1) ++overlapped;
    released.wait();
    --running, ++done;
  });
  hipGraphExec_t exec = instantiate(first);
  OK(hipGraphLaunch(exec, first));
  OK(hipGraphLaunch(exec, second));
  Gate never;
  CHECK(!never.opens_within(patience));
  released.open();
  OK(hipDeviceSynchronize());
  CHECK(overlapped == 0 && done == 2);
  OK(hipGraphExecDestroy(exec));
  OK(hipStreamDestroy(first));
  OK(hipStreamDestroy(second));
}

TEST(a_graph_launched_on_the_null_stream_follows_blocking_streams) {
  hipStream_t stream = make_stream();
  Gate ran;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  launch(stream, [&] { ran.open(); });
  hipGraphExec_t exec = instantiate(stream);
  HeldKernel held(stream);
  OK(hipGraphLaunch(exec, nullptr));
  CHECK(!ran.opens_within(patience));
  held.release();
  OK(hipStreamSynchronize(nullptr));
  CHECK(ran.is_open());
  OK(hipGraphExecDestroy(exec));
  OK(hipStreamDestroy(stream));
}

TEST(waiting_for_a_capturing_stream_invalidates_the_capture) {
  hipStream_t stream = make_stream();
  for (hipError_t (*call)(hipStream_t) : {hipStreamSynchronize, hipStreamQuery}) {
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    CHECK(call(stream) == hipErrorStreamCaptureUnsupported);
    CHECK(status_of(stream) == hipStreamCaptureStatusInvalidated);
    CHECK(hip_host::launch_kernel("k", dim3(1), dim3(1), 0, stream, [] {}) ==
          hipErrorStreamCaptureInvalidated);
    end_invalidated(stream);
  }
  OK(hipStreamDestroy(stream));
}

TEST(waiting_for_the_device_invalidates_every_capture) {
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  CHECK(hipDeviceSynchronize() == hipErrorStreamCaptureUnsupported);
  end_invalidated(stream);
  OK(hipStreamDestroy(stream));
}

hipError_t null_stream_kernel() {
  return hip_host::launch_kernel("k", dim3(1), dim3(1), 0, nullptr, [] {});
}

hipError_t synchronous_copy() {
  char a = 1, b = 2;
  return hipMemcpy(&a, &b, 1, hipMemcpyHostToHost);
}

hipError_t allocation() {
  void* pinned = nullptr;
  const hipError_t error = hipHostMalloc(&pinned, 8);
  if (error == hipSuccess) OK(hipHostFree(pinned));
  return error;
}

TEST(using_the_null_stream_invalidates_a_capture_of_a_blocking_stream) {
  hipStream_t stream = make_stream();
  for (const auto mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal}) {
    for (hipError_t (*call)() : {null_stream_kernel, synchronous_copy}) {
      OK(hipStreamBeginCapture(stream, mode));
      CHECK(call() == hipErrorStreamCaptureImplicit);
      end_invalidated(stream);
    }
  }
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  OK(null_stream_kernel());
  OK(synchronous_copy());
  OK(hipGraphExecDestroy(instantiate(stream)));
  OK(hipStreamDestroy(stream));
}

TEST(launching_a_graph_obeys_the_captures_under_way) {
  hipStream_t stream = make_stream();
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  hipGraphExec_t exec = instantiate(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipGraphLaunch(exec, nullptr) == hipErrorStreamCaptureImplicit);
  end_invalidated(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipGraphLaunch(exec, stream) == hipErrorStreamCaptureUnsupported);  // no child graphs
  end_invalidated(stream);
  OK(hipGraphExecDestroy(exec));
  OK(hipStreamDestroy(stream));
}

TEST(a_pageable_source_of_a_captured_copy_is_read_at_replay) {
  hipStream_t stream = make_stream();
  char *device = nullptr, pageable = 1;
  OK(hipMalloc(&device, 1));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  OK(hipMemcpyAsync(device, &pageable, 1, hipMemcpyHostToDevice, stream));
  hipGraphExec_t exec = instantiate(stream);
  for (const char value : {7, 8}) {
    pageable = value;
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(*device == value);
  }
  OK(hipGraphExecDestroy(exec));
  OK(hipFree(device));
  OK(hipStreamDestroy(stream));
}

TEST(kernels_on_the_null_stream_leave_a_capture_of_a_non_blocking_stream_alone) {
  hipStream_t stream = make_stream(hipStreamNonBlocking);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(null_stream_kernel());
  CHECK(status_of(stream) == hipStreamCaptureStatusActive);
  CHECK(synchronous_copy() == hipErrorStreamCaptureImplicit);
  end_invalidated(stream);
  OK(hipStreamDestroy(stream));
}

TEST(allocating_is_refused_by_global_and_own_thread_local_captures) {
  hipStream_t stream = make_stream();
  auto elsewhere = [](hipError_t (*call)()) {
    hipError_t result = hipErrorUnknown;
    std::thread([&] { result = call(); }).join();
    return result;
  };
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(elsewhere(allocation) == hipErrorStreamCaptureUnsupported);
  end_invalidated(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  OK(elsewhere(allocation));
  OK(elsewhere(null_stream_kernel));
  CHECK(status_of(stream) == hipStreamCaptureStatusActive);
  CHECK(allocation() == hipErrorStreamCaptureUnsupported);
  end_invalidated(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  OK(allocation());
  OK(hipGraphExecDestroy(instantiate(stream)));
  OK(hipStreamDestroy(stream));
}

TEST(a_capture_ends_on_its_own_thread_unless_relaxed) {
  hipStream_t stream = make_stream();
  hipGraph_t graph = nullptr;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  std::thread([&] {
    CHECK(hipStreamEndCapture(stream, &graph) == hipErrorStreamCaptureWrongThread);
  }).join();
  end_invalidated(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  std::thread([&] { OK(hipStreamEndCapture(stream, &graph)); }).join();
  OK(hipGraphDestroy(graph));
  OK(hipStreamDestroy(stream));
}

TEST(a_captured_event_orders_only_inside_its_capture) {
  hipStream_t stream = make_stream(), other = make_stream();
  hipEvent_t event = nullptr, outside = nullptr;
  OK(hipEventCreate(&event));
  OK(hipEventCreate(&outside));
  OK(hipEventRecord(outside, other));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  OK(hipEventRecord(event, stream));
  OK(hipStreamWaitEvent(stream, event, 0));
  OK(hipGraphExecDestroy(instantiate(stream)));
  CHECK(hipEventQuery(event) == hipErrorCapturedEvent);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  CHECK(hipStreamWaitEvent(stream, outside, 0) == hipErrorStreamCaptureIsolation);
  end_invalidated(stream);
  OK(hipEventRecord(event, stream));  // recorded anew outside: an ordinary event again
  OK(hipEventSynchronize(event));
  OK(hipEventDestroy(event));
  OK(hipEventDestroy(outside));
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(capture_misuse_has_its_codes) {
  hipStream_t stream = make_stream();
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  CHECK(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal) ==
        hipErrorStreamCaptureUnsupported);
  CHECK(hipStreamEndCapture(stream, &graph) == hipErrorIllegalState);
  CHECK(hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(3)) ==
        hipErrorInvalidValue);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipErrorIllegalState);
  CHECK(hipStreamDestroy(stream) == hipErrorStreamCaptureUnsupported);
  end_invalidated(stream);
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphDestroy(graph));
  CHECK(hipGraphDestroy(graph) == hipErrorInvalidValue);
  CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == hipErrorInvalidValue);
  OK(hipGraphLaunch(exec, stream));  // empty
  OK(hipGraphExecDestroy(exec));
  CHECK(hipGraphLaunch(exec, stream) == hipErrorInvalidValue);
  CHECK(hipGraphExecDestroy(exec) == hipErrorInvalidValue);
  OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
