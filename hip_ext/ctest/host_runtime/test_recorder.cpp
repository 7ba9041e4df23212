// What is recorded, and that `waited` is the truth.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "gate.h"
#include "hip_host/recorder.h"
#include "hip_host/roctx.h"

namespace {

using hip_host::ApiRecord;
using hip_host::MemoryKind;
using hip_host::OpKind;
using hip_host::Records;

/// The only call of this name.
const ApiRecord& only(const Records& records, const std::string& name) {
  const ApiRecord* found = nullptr;
  for (const ApiRecord& call : records.api) {
    if (call.name != name) continue;
    CHECK(found == nullptr);
    found = &call;
  }
  CHECK(found != nullptr);
  return *found;
}

int64_t stream_id_of(hipStream_t stream) {
  for (const auto& record : hip_host::recorder_streams()) {
    if (record.handle == reinterpret_cast<uintptr_t>(stream)) return record.stream_id;
  }
  CHECK(!"a known stream");
  return -1;
}

int64_t boottime_ns() {
  timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Records stop_and_take() {
  hip_host::recorder_stop();
  return hip_host::recorder_take();
}

TEST(ranges_nest_on_their_thread) {
  CHECK(roctxRangePop() == -1);
  CHECK(roctxRangePushA("before the recording") == 0);
  hip_host::recorder_start();
  CHECK(roctxRangePushA("outer") == 1);
  CHECK(roctxRangePushA("inner") == 2);
  CHECK(roctxRangePop() == 2);
  CHECK(roctxRangePop() == 1);
  CHECK(roctxRangePushA("ends after the recording") == 1);
  hip_host::recorder_stop();
  CHECK(roctxRangePop() == 1);
  CHECK(roctxRangePop() == 0);
  const Records records = hip_host::recorder_take();
  CHECK(records.ranges.size() == 3);
  CHECK(*records.ranges[0].name == "outer");
  CHECK(*records.ranges[1].name == "inner");
  CHECK(*records.ranges[2].name == "ends after the recording");
  CHECK(records.ranges[0].start_ns <= records.ranges[1].start_ns);
  CHECK(records.ranges[1].end_ns <= records.ranges[0].end_ns);
  CHECK(records.ranges[0].thread_id == static_cast<int32_t>(syscall(SYS_gettid)));
}

TEST(a_range_of_an_earlier_recording_is_dropped) {
  hip_host::recorder_start();
  roctxRangePushA("first");
  hip_host::recorder_start();
  roctxRangePop();
  CHECK(stop_and_take().ranges.empty());
}

TEST(a_launch_and_its_op_agree) {
  hipStream_t stream = make_stream();
  const int64_t before = boottime_ns();
  hip_host::recorder_start();
  OK(hip_host::launch_kernel("dot_do_o", dim3(2, 3, 4), dim3(64), /*lds_bytes=*/512, stream,
                             [] {}));
  OK(hipStreamSynchronize(stream));
  const Records records = stop_and_take();
  const int64_t after = boottime_ns();
  const ApiRecord& call = only(records, "hipLaunchKernel");
  CHECK(records.ops.size() == 1);
  const auto& op = records.ops[0];
  CHECK(op.kind == OpKind::kernel && *op.name == "dot_do_o" && *call.kernel == "dot_do_o");
  CHECK(op.correlation_id == call.correlation_id && call.correlation_id != 0);
  CHECK(op.stream_id == stream_id_of(stream) && call.stream_id == op.stream_id);
  CHECK(call.stream_argument == reinterpret_cast<uintptr_t>(stream));
  CHECK(call.thread_id == syscall(SYS_gettid) && op.thread_id == call.thread_id);
  CHECK(op.grid.y == 3 && op.grid.z == 4 && op.block.x == 64 && op.lds_bytes == 512);
  CHECK(before <= call.start_ns && call.start_ns <= call.end_ns && call.end_ns <= after);
  CHECK(call.start_ns <= op.start_ns && op.start_ns <= op.end_ns);
  CHECK(op.end_ns <= only(records, "hipStreamSynchronize").end_ns);
  OK(hipStreamDestroy(stream));
}

TEST(copies_and_fills_carry_bytes_direction_and_memory_kinds) {
  hipStream_t stream = make_stream();
  char *device = nullptr, *pinned = nullptr, pageable[16] = {};
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  hip_host::recorder_start();
  OK(hipMemsetAsync(device, 0, 64, stream));
  OK(hipMemcpyAsync(pinned, device, 32, hipMemcpyDefault, stream));
  OK(hipMemcpy(device, pageable, 16, hipMemcpyHostToDevice));
  const Records records = stop_and_take();
  CHECK(records.ops.size() == 3);
  const auto& fill = records.ops[0];
  CHECK(fill.kind == OpKind::memset && fill.bytes == 64 && fill.dst_kind == MemoryKind::device);
  CHECK(fill.copy_kind == hip_host::no_copy);
  const auto& out = records.ops[1];
  CHECK(out.kind == OpKind::memcpy && out.bytes == 32 && out.copy_kind == hipMemcpyDeviceToHost);
  CHECK(out.src_kind == MemoryKind::device && out.dst_kind == MemoryKind::pinned);
  CHECK(*out.name == "MEMORY_COPY_DEVICE_TO_HOST");
  CHECK(out.src == reinterpret_cast<uintptr_t>(device));
  const auto& in = records.ops[2];
  CHECK(in.copy_kind == hipMemcpyHostToDevice && in.src_kind == MemoryKind::pageable);
  CHECK(in.stream_id == 0);
  const ApiRecord& copy = only(records, "hipMemcpy");
  CHECK(copy.correlation_id == in.correlation_id && copy.bytes == 16 && copy.stream_id == 0);
  CHECK(copy.copy_kind == hipMemcpyHostToDevice && copy.src_kind == MemoryKind::pageable);
  CHECK(only(records, "hipMemcpyAsync").copy_kind == hipMemcpyDeviceToHost);
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(stream));
}

TEST(a_host_function_is_recorded_apart_with_the_thread_that_ran_it) {
  hipStream_t stream = make_stream();
  long ran_on = 0;
  hip_host::recorder_start();
  OK(hipLaunchHostFunc(
      stream, [](void* id) { *static_cast<long*>(id) = syscall(SYS_gettid); }, &ran_on));
  OK(hipStreamSynchronize(stream));
  const Records records = stop_and_take();
  CHECK(records.ops.empty() && records.host_functions.size() == 1);
  const auto& function = records.host_functions[0];
  CHECK(function.kind == OpKind::host_function && function.thread_id == ran_on);
  CHECK(function.correlation_id == only(records, "hipLaunchHostFunc").correlation_id);
  OK(hipStreamDestroy(stream));
}

TEST(the_ops_of_a_graph_carry_the_launch) {
  hipStream_t stream = make_stream();
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  launch(stream, [] {}, "first");
  hip_host::recorder_start();  // what counts is the launch: both ops belong to this recording
  launch(stream, [] {}, "second");
  OK(hipStreamEndCapture(stream, &graph));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  const Records records = stop_and_take();
  CHECK(records.ops.size() == 2);  // none for the calls made while capturing
  for (const auto& op : records.ops) {
    CHECK(op.correlation_id == only(records, "hipGraphLaunch").correlation_id);
    CHECK(op.graph_exec == reinterpret_cast<uintptr_t>(exec));
  }
  CHECK(*records.ops[0].name == "first" && *records.ops[1].name == "second");
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipStreamDestroy(stream));
}

/// Runs the call while the stream is held and tells what it recorded as `waited`.
bool waited(hipStream_t stream, const std::string& name, const std::function<void()>& call,
            bool blocks) {
  hip_host::recorder_start();
  HeldKernel held(stream);
  Call running(call);
  CHECK(running.returns_within(blocks ? patience : std::chrono::milliseconds(60'000)) != blocks);
  held.release();
  running.wait();
  OK(hipStreamSynchronize(stream));
  const Records records = hip_host::recorder_take();
  for (const ApiRecord& record : records.api) {
    if (record.name == name) return record.waited;  // the first of that name
  }
  CHECK(!"the call was recorded");
  return false;
}

TEST(waited_is_set_where_a_call_blocked_and_nowhere_else) {
  hipStream_t stream = make_stream();
  char *device = nullptr, *pinned = nullptr, pageable[8] = {};
  void *freed = nullptr, *freed_pinned = nullptr, *more = nullptr;
  hipEvent_t event = nullptr;
  OK(hipMalloc(&device, 8));
  OK(hipHostMalloc(&pinned, 8));
  OK(hipMalloc(&freed, 8));
  OK(hipHostMalloc(&freed_pinned, 8));
  OK(hipEventCreate(&event));
  auto blocks = [&](const char* name, const std::function<void()>& call) {
    CHECK(waited(stream, name, call, true));
  };
  auto returns = [&](const char* name, const std::function<void()>& call) {
    CHECK(!waited(stream, name, call, false));
  };
  blocks("hipDeviceSynchronize", [] { OK(hipDeviceSynchronize()); });
  blocks("hipStreamSynchronize", [] { OK(hipStreamSynchronize(nullptr)); });
  blocks("hipEventSynchronize", [&] {
    OK(hipEventRecord(event, stream));
    OK(hipEventSynchronize(event));
  });
  blocks("hipMemcpy", [&] { OK(hipMemcpy(pinned, device, 8, hipMemcpyDefault)); });
  blocks("hipMemcpyWithStream",
         [&] { OK(hipMemcpyWithStream(pinned, device, 8, hipMemcpyDefault, stream)); });
  blocks("hipMemcpyAsync",
         [&] { OK(hipMemcpyAsync(pageable, device, 8, hipMemcpyDefault, stream)); });
  blocks("hipMemset", [&] { OK(hipMemset(pinned, 0, 8)); });
  blocks("hipFree", [&] { OK(hipFree(freed)); });
  blocks("hipHostFree", [&] { OK(hipHostFree(freed_pinned)); });
  returns("hipMemcpyAsync",
          [&] { OK(hipMemcpyAsync(pinned, device, 8, hipMemcpyDefault, stream)); });
  returns("hipMemcpyAsync",
          [&] { OK(hipMemcpyAsync(device, pageable, 8, hipMemcpyDefault, stream)); });
  returns("hipMemcpy", [&] { OK(hipMemcpy(device, device, 4, hipMemcpyDeviceToDevice)); });
  returns("hipMemset", [&] { OK(hipMemset(device, 0, 8)); });
  returns("hipMemsetAsync", [&] { OK(hipMemsetAsync(device, 0, 8, stream)); });
  returns("hipLaunchHostFunc", [&] { OK(hipLaunchHostFunc(stream, [](void*) {}, nullptr)); });
  returns("hipLaunchKernel", [&] { launch(stream, [] {}); });
  returns("hipStreamQuery", [&] { CHECK(hipStreamQuery(stream) == hipErrorNotReady); });
  returns("hipStreamWaitEvent", [&] {
    OK(hipEventRecord(event, stream));
    OK(hipStreamWaitEvent(nullptr, event, 0));
  });
  returns("hipMalloc", [&] { OK(hipMalloc(&more, 8)); });
  hip_host::recorder_stop();
  OK(hipFree(more));
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(stream));
}

TEST(a_synchronize_with_nothing_to_wait_for_did_not_wait) {
  hipStream_t stream = make_stream();
  launch(stream, [] {});
  OK(hipDeviceSynchronize());
  hip_host::recorder_start();
  OK(hipDeviceSynchronize());
  OK(hipStreamSynchronize(stream));
  for (const ApiRecord& call : stop_and_take().api) CHECK(!call.waited);
  OK(hipStreamDestroy(stream));
}

TEST(a_synchronous_copy_always_waited_also_on_an_idle_device) {
  char *device = nullptr, pageable[8] = {};
  OK(hipMalloc(&device, 8));
  hip_host::recorder_start();
  for (int i = 0; i < 200; ++i) OK(hipMemcpy(pageable, device, 8, hipMemcpyDefault));
  const Records records = stop_and_take();
  CHECK(records.api.size() == 200);
  for (const ApiRecord& call : records.api) CHECK(call.waited);
  OK(hipFree(device));
}

TEST(waiting_for_the_lock_behind_a_host_function_is_waiting) {
  hipStream_t stream = make_stream();
  struct Gates {
    Gate started, released;
  } gates;
  void* memory = nullptr;
  hip_host::recorder_start();
  OK(hipLaunchHostFunc(
      stream,
      [](void* data) {
        static_cast<Gates*>(data)->started.open();
        static_cast<Gates*>(data)->released.wait();
      },
      &gates));
  gates.started.wait();
  {
    Call allocate([&] { OK(hipMalloc(&memory, 8)); });
    CHECK(!allocate.returns_within(patience));
    gates.released.open();
  }
  CHECK(only(stop_and_take(), "hipMalloc").waited);
  OK(hipFree(memory));
  OK(hipStreamDestroy(stream));
}

TEST(nothing_is_recorded_while_off) {
  hip_host::recorder_start();
  hip_host::recorder_stop();
  launch(nullptr, [] {});
  OK(hipDeviceSynchronize());
  const Records records = hip_host::recorder_take();
  CHECK(records.api.empty() && records.ops.empty() && records.host_functions.empty());
}

TEST(an_op_that_ends_after_the_stop_is_still_recorded) {
  hip_host::recorder_start();
  HeldKernel held(nullptr);
  hip_host::recorder_stop();
  held.release();
  OK(hipDeviceSynchronize());
  CHECK(hip_host::recorder_take().ops.size() == 1);
}

TEST(a_new_recording_has_nothing_of_the_old_one) {
  hip_host::recorder_start();
  HeldKernel held(nullptr);
  held.wait_started();
  hip_host::recorder_start();
  held.release();
  OK(hipDeviceSynchronize());
  const Records records = stop_and_take();
  CHECK(records.ops.empty());
  CHECK(records.api.size() == 1);  // the synchronize
}

TEST(records_of_ended_threads_are_kept_and_all_are_ordered) {
  hip_host::recorder_start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) launch(nullptr, [] {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  OK(hipDeviceSynchronize());
  const Records records = stop_and_take();
  CHECK(records.api.size() == 801 && records.ops.size() == 800);
  for (size_t i = 1; i < records.api.size(); ++i) {
    CHECK(records.api[i - 1].start_ns <= records.api[i].start_ns);
  }
  for (size_t i = 1; i < records.ops.size(); ++i) {
    CHECK(records.ops[i - 1].end_ns <= records.ops[i].start_ns);  // one stream: no overlap
  }
}

TEST(a_failed_call_is_recorded_with_its_code) {
  hip_host::recorder_start();
  CHECK(hipSetDevice(3) == hipErrorInvalidDevice);
  CHECK(hipStreamQuery(reinterpret_cast<hipStream_t>(0x1)) == hipErrorContextIsDestroyed);
  const Records records = stop_and_take();
  CHECK(only(records, "hipSetDevice").result == hipErrorInvalidDevice);
  CHECK(only(records, "hipStreamQuery").stream_id == hip_host::no_stream);
}

TEST(streams_are_listed_with_ids_that_are_not_used_twice) {
  hipStream_t first = make_stream();
  const int64_t id = stream_id_of(first);
  OK(hipStreamDestroy(first));
  hipStream_t second = make_stream(hipStreamNonBlocking);
  CHECK(stream_id_of(second) == id + 1);
  CHECK(stream_id_of(first) == id);
  CHECK(hip_host::recorder_streams()[0].handle == 0);
  CHECK(hip_host::recorder_streams().back().flags == hipStreamNonBlocking);
  OK(hipStreamDestroy(second));
}

}  // namespace

CHECK_MAIN()
