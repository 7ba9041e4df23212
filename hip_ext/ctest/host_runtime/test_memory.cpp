// Allocation: what a free waits for, what the runtime knows about a pointer.
#include <atomic>

#include "gate.h"
#include "hip_host/retention.h"

namespace {

TEST(a_free_waits_for_the_whole_device) {
  // Non-blocking too: unlike the null stream, a free exempts nobody.
  for (const unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
    for (const bool pinned : {false, true}) {
      hipStream_t stream = make_stream(flags);
      void* memory = nullptr;
      OK(pinned ? hipHostMalloc(&memory, 64) : hipMalloc(&memory, 64));
      HeldKernel held(stream);
      Call free([&] { OK(pinned ? hipHostFree(memory) : hipFree(memory)); });
      CHECK(!free.returns_within(patience));
      held.release();
      free.wait();
      OK(hipStreamDestroy(stream));
    }
  }
}

TEST(a_free_does_not_wait_under_the_rule_of_hip_7) {
  hip_host::set_free_waits(false);
  hipStream_t stream = make_stream();
  void *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  HeldKernel held(stream);
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  CHECK(hipStreamQuery(stream) == hipErrorNotReady);
  held.release();
  OK(hipStreamDestroy(stream));
  hip_host::set_free_waits(true);
}

TEST(allocating_does_not_wait_for_the_device) {
  hipStream_t stream = make_stream();
  HeldKernel held(stream);
  void *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 64));
  OK(hipHostMalloc(&pinned, 64));
  held.release();
  OK(hipFree(device));
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(stream));
}

TEST(two_threads_that_free_one_pointer_free_it_once) {
  hipStream_t stream = make_stream();
  void* memory = nullptr;
  OK(hipMalloc(&memory, 64));
  std::atomic<int> freed{0}, refused{0};
  HeldKernel held(stream);
  auto free = [&] { ++(hipFree(memory) == hipSuccess ? freed : refused); };
  {
    Call first(free), second(free);
    CHECK(!first.returns_within(patience));
    held.release();
  }
  CHECK(freed == 1 && refused == 1);
  OK(hipStreamDestroy(stream));
}

TEST(allocations_are_page_aligned_and_told_apart) {
  char *device = nullptr, *pinned = nullptr;
  OK(hipMalloc(&device, 100));
  OK(hipHostMalloc(&pinned, 100));
  CHECK(reinterpret_cast<uintptr_t>(device) % 4096 == 0);
  CHECK(reinterpret_cast<uintptr_t>(pinned) % 4096 == 0);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, device + 99));
  CHECK(attributes.type == hipMemoryTypeDevice);
  CHECK(attributes.devicePointer == device + 99 && attributes.hostPointer == nullptr);
  OK(hipPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == hipMemoryTypeHost);
  CHECK(attributes.devicePointer == pinned && attributes.hostPointer == pinned);
  OK(hipPointerGetAttributes(&attributes, device + 100));
  CHECK(attributes.type == hipMemoryTypeUnregistered);
  int local = 0;
  OK(hipPointerGetAttributes(&attributes, &local));
  CHECK(attributes.type == hipMemoryTypeUnregistered);
  OK(hipFree(device));
  OK(hipHostFree(pinned));
}

TEST(a_retained_object_lives_to_the_streams_tail_and_no_longer) {
  hipStream_t stream = make_stream();
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  HeldKernel held(stream);
  OK(hip_host::retain_to_tail(stream, std::move(object)));
  CHECK(!watch.expired());
  held.release();
  OK(hipStreamSynchronize(stream));
  CHECK(watch.expired());
  CHECK(hip_host::retain_to_tail(stream, nullptr) == hipErrorInvalidValue);
  OK(hipStreamDestroy(stream));
}

}  // namespace

CHECK_MAIN()
