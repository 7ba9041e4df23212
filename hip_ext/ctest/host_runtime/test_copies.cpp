// Copies and fills: who blocks, who stages, in which order they run.
#include <cstring>
#include <vector>

#include "gate.h"

namespace {

struct Buffers {
  static constexpr size_t size = 256;
  char* device = nullptr;
  char* pinned = nullptr;
  std::vector<char> pageable = std::vector<char>(size, 'h');

  Buffers() {
    OK(hipMalloc(&device, size));
    OK(hipHostMalloc(&pinned, size));
    std::memset(device, 'd', size);
    std::memset(pinned, 'p', size);
  }
  ~Buffers() {
    OK(hipFree(device));
    OK(hipHostFree(pinned));
  }
};

TEST(a_pinned_copy_returns_at_once_and_runs_in_order) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    OK(hipMemcpyAsync(b.pinned, b.device, b.size, hipMemcpyDeviceToHost, stream));
    OK(hipMemsetAsync(b.device, 'x', b.size, stream));
    OK(hipMemcpyAsync(b.device, b.pinned, 1, hipMemcpyHostToDevice, stream));
    CHECK(b.pinned[0] == 'p' && b.device[0] == 'd');  // nothing has run
    held.release();
    OK(hipStreamSynchronize(stream));
    CHECK(b.pinned[0] == 'd' && b.pinned[b.size - 1] == 'd');
    CHECK(b.device[0] == 'd' && b.device[1] == 'x');
  }
  OK(hipStreamDestroy(stream));
}

TEST(a_pinned_source_is_read_when_the_copy_runs) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    OK(hipMemcpyAsync(b.device, b.pinned, b.size, hipMemcpyHostToDevice, stream));
    b.pinned[0] = 'q';
    held.release();
    OK(hipStreamSynchronize(stream));
    CHECK(b.device[0] == 'q');
  }
  OK(hipStreamDestroy(stream));
}

TEST(a_pageable_source_is_staged_before_the_call_returns_also_behind_a_busy_stream) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    OK(hipMemcpyAsync(b.device, b.pageable.data(), b.size, hipMemcpyHostToDevice, stream));
    CHECK(b.device[0] == 'd');  // in stream order
    std::fill(b.pageable.begin(), b.pageable.end(), 'z');
    held.release();
    OK(hipStreamSynchronize(stream));
    CHECK(b.device[0] == 'h' && b.device[b.size - 1] == 'h');
  }
  OK(hipStreamDestroy(stream));
}

TEST(an_asynchronous_copy_to_pageable_memory_returns_when_done) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    Call copy([&] {
      OK(hipMemcpyAsync(b.pageable.data(), b.device, b.size, hipMemcpyDeviceToHost, stream));
      CHECK(b.pageable[b.size - 1] == 'd');
    });
    CHECK(!copy.returns_within(patience));
    held.release();
    copy.wait();
  }
  OK(hipStreamDestroy(stream));
}

TEST(a_copy_between_pageable_buffers_returns_when_done) {
  hipStream_t stream = make_stream();
  std::vector<char> from(64, 'a'), to(64, 'b');
  HeldKernel held(stream);
  Call copy([&] {
    OK(hipMemcpyAsync(to.data(), from.data(), from.size(), hipMemcpyHostToHost, stream));
    CHECK(to[63] == 'a');
  });
  CHECK(!copy.returns_within(patience));
  held.release();
  copy.wait();
  OK(hipStreamDestroy(stream));
}

TEST(a_pageable_source_of_a_host_copy_is_not_staged) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    Call copy([&] {
      OK(hipMemcpyAsync(b.pinned, b.pageable.data(), b.size, hipMemcpyHostToHost, stream));
      CHECK(b.pinned[b.size - 1] == 'h');
    });
    CHECK(!copy.returns_within(patience));
    held.release();
    copy.wait();
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemcpyWithStream_waits_also_inside_the_device) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    Call copy([&] {
      OK(hipMemcpyWithStream(b.device, b.device + 8, 8, hipMemcpyDeviceToDevice, stream));
    });
    CHECK(!copy.returns_within(patience));
    held.release();
    copy.wait();
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemcpy_waits_for_blocking_streams_in_both_directions) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    for (const hipMemcpyKind kind : {hipMemcpyDeviceToHost, hipMemcpyHostToDevice}) {
      HeldKernel held(stream);
      const bool out = kind == hipMemcpyDeviceToHost;
      Call copy([&] {
        OK(hipMemcpy(out ? b.pageable.data() : b.device, out ? b.device : b.pageable.data(), b.size,
                     kind));
      });
      CHECK(!copy.returns_within(patience));
      held.release();
      copy.wait();
    }
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemcpy_waits_also_for_pinned_memory) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    Call copy([&] { OK(hipMemcpy(b.pinned, b.device, b.size, hipMemcpyDefault)); });
    CHECK(!copy.returns_within(patience));
    held.release();
    copy.wait();
    CHECK(b.pinned[0] == 'd');
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemcpy_does_not_wait_for_non_blocking_streams) {
  hipStream_t exempt = make_stream(hipStreamNonBlocking);
  Buffers b;
  HeldKernel held(exempt);
  OK(hipMemcpy(b.pageable.data(), b.device, b.size, hipMemcpyDeviceToHost));
  CHECK(b.pageable[0] == 'd');
  held.release();
  OK(hipStreamDestroy(exempt));
}

TEST(hipMemcpy_on_the_device_returns_at_once_and_runs_in_order) {
  hipStream_t stream = make_stream();
  {
    Buffers b, c;
    std::memset(c.device, 'c', c.size);
    HeldKernel held(stream);
    OK(hipMemcpy(c.device, b.device, b.size, hipMemcpyDeviceToDevice));
    CHECK(c.device[0] == 'c');
    held.release();
    OK(hipDeviceSynchronize());
    CHECK(c.device[0] == 'd');
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemcpyWithStream_waits_for_its_stream_only) {
  hipStream_t stream = make_stream(), other = make_stream();
  {
    Buffers b;
    HeldKernel held_other(other);
    OK(hipMemcpyWithStream(b.pinned, b.device, b.size, hipMemcpyDeviceToHost, stream));
    CHECK(b.pinned[0] == 'd');
    HeldKernel held(stream);
    Call copy([&] {
      OK(hipMemcpyWithStream(b.pageable.data(), b.device, b.size, hipMemcpyDefault, stream));
    });
    CHECK(!copy.returns_within(patience));
    held.release();
    copy.wait();
    held_other.release();
  }
  OK(hipStreamDestroy(stream));
  OK(hipStreamDestroy(other));
}

TEST(hipMemset_is_asynchronous_for_device_memory_and_ordered_by_the_null_stream) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    OK(hipMemset(b.device, 'm', b.size));
    CHECK(b.device[0] == 'd');
    held.release();
    OK(hipStreamSynchronize(nullptr));
    CHECK(b.device[0] == 'm' && b.device[b.size - 1] == 'm');
  }
  OK(hipStreamDestroy(stream));
}

TEST(hipMemset_waits_for_pinned_memory) {
  hipStream_t stream = make_stream();
  {
    Buffers b;
    HeldKernel held(stream);
    Call set([&] { OK(hipMemset(b.pinned, 'm', b.size)); });
    CHECK(!set.returns_within(patience));
    held.release();
    set.wait();
    CHECK(b.pinned[0] == 'm');
  }
  OK(hipStreamDestroy(stream));
}

TEST(registered_memory_is_device_memory) {
  char tensor[32], out[32];
  std::memset(tensor, 't', sizeof tensor);
  CHECK(hipMemcpy(out, tensor, 32, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  OK(hip_host::register_device_memory(tensor, 32));
  OK(hip_host::register_device_memory(tensor, 32));
  OK(hipMemcpy(out, tensor + 8, 24, hipMemcpyDeviceToHost));
  CHECK(out[23] == 't');
  CHECK(hipMemcpy(out, tensor + 8, 25, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  OK(hip_host::unregister_device_memory(tensor, 32));
  OK(hipMemcpy(out, tensor, 32, hipMemcpyDeviceToHost));  // registered twice
  OK(hip_host::unregister_device_memory(tensor, 32));
  CHECK(hip_host::unregister_device_memory(tensor, 32) == hipErrorInvalidValue);
  CHECK(hipMemcpy(out, tensor, 32, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
}

}  // namespace

CHECK_MAIN()
