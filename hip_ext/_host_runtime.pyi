"""The CPU host runtime: HIP's streams, events, copies and host functions on CPU threads, with a recorder.

Streams and pointers are ints (0 is the null stream), sizes are bytes. A call that fails raises RuntimeError
with HIP's error name. Semantics: hip_ext/host_runtime/README.md.
"""

from enum import IntEnum
from typing import TypedDict

import numpy as np
import numpy.typing as npt

class CopyKind(IntEnum):
    HOST_TO_HOST = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    DEFAULT = 4

class MemoryKind(IntEnum):
    NONE = 0
    PAGEABLE = 1
    PINNED = 2
    DEVICE = 3

class OpKind(IntEnum):
    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST_FUNCTION = 3

class _Shared(TypedDict):
    start_ns: npt.NDArray[np.int64]
    """CLOCK_BOOTTIME; rows are ordered by it."""
    end_ns: npt.NDArray[np.int64]
    correlation_id: npt.NDArray[np.uint64]
    """An op has its API call's id, the ops of a graph their hipGraphLaunch's."""
    stream_id: npt.NDArray[np.int64]
    """0 is the null stream; -1 a call that takes no stream."""
    thread_id: npt.NDArray[np.int64]
    """The thread that called or enqueued; of a host function the thread that ran it."""
    bytes: npt.NDArray[np.uint64]
    copy_kind: npt.NDArray[np.int32]
    """A CopyKind, never DEFAULT; -1 for what copies nothing."""
    src_memory: npt.NDArray[np.uint8]
    """A MemoryKind."""
    dst_memory: npt.NDArray[np.uint8]
    src: npt.NDArray[np.uint64]
    dst: npt.NDArray[np.uint64]
    """Also what an allocating call returned and a freeing call got."""
    name: list[str]

class ApiTable(_Shared):
    kernel: list[str]
    """What a hipLaunchKernel launched; else empty."""
    result: npt.NDArray[np.int32]
    """hipError_t."""
    waited: npt.NDArray[np.bool_]
    """The call really blocked until device work went on: the runtime's own knowledge, in no trace file."""
    stream_argument: npt.NDArray[np.uint64]
    """The handle that was passed: 0 also when the call takes no stream."""
    event: npt.NDArray[np.uint64]
    stack: npt.NDArray[np.uint32]
    """Number of the Python stack of a call that waited: entry n - 1 of `stacks`; 0 where it is not known."""

class OpTable(_Shared):
    kind: npt.NDArray[np.uint8]
    """An OpKind."""
    graph_exec: npt.NDArray[np.uint64]
    lds_bytes: npt.NDArray[np.uint64]
    grid_x: npt.NDArray[np.int64]
    """In blocks, as it was passed; rocprofiler counts work-items."""
    grid_y: npt.NDArray[np.int64]
    grid_z: npt.NDArray[np.int64]
    block_x: npt.NDArray[np.int64]
    block_y: npt.NDArray[np.int64]
    block_z: npt.NDArray[np.int64]

class RangeTable(TypedDict):
    name: list[str]
    start_ns: npt.NDArray[np.int64]
    end_ns: npt.NDArray[np.int64]
    thread_id: npt.NDArray[np.int64]

class StreamTable(TypedDict):
    stream_id: npt.NDArray[np.int64]
    handle: npt.NDArray[np.uint64]
    non_blocking: npt.NDArray[np.bool_]

class Records(TypedDict):
    api: ApiTable
    device: OpTable
    """Kernels, copies and memsets."""
    host_functions: OpTable
    ranges: RangeTable
    """What hip_ext annotates: the preparation of a call's workspace, and the pack function."""
    streams: StreamTable
    """Every stream of this process so far, destroyed ones too."""
    stacks: list[tuple[str, ...]]
    """Frames as "file(line): function", outermost first."""

class DeviceProperties(TypedDict):
    name: str
    arch: str
    total_bytes: int
    multiprocessor_count: int
    warp_size: int

def start_recording(*, stacks: bool = False) -> None:
    """With `stacks`, the Python stack of each call that waited is recorded as well.

    Starts a new recording; drops what an earlier one left. Ops of earlier calls do not enter."""

def stop_recording() -> None:
    """No later call is recorded; ops of recorded calls still are, when they end."""

def take_records() -> Records:
    """Moves out what has ended so far: synchronize the device first to get every op."""

def device_properties() -> DeviceProperties: ...
def device_synchronize() -> None:
    """Blocks until all work is done."""

def stream_create(*, blocking: bool = True) -> int: ...
def stream_destroy(stream: int) -> None:
    """Blocks until the stream's work is done."""

def stream_synchronize(stream: int) -> None:
    """Blocks until the stream's work is done."""

def stream_query(stream: int) -> bool:
    """Whether the stream's work is done; never blocks."""

def stream_is_blocking(stream: int) -> bool: ...
def set_free_waits(waits: bool) -> None:
    """True (the start value): frees wait for the device, as in HIP before 7."""

def device_malloc(size: int) -> int: ...
def pinned_malloc(size: int) -> int: ...
def device_free(pointer: int) -> None:
    """Blocks until all work is done (set_free_waits)."""

def pinned_free(pointer: int) -> None:
    """Blocks until all work is done (set_free_waits)."""

def register_device_memory(pointer: int, size: int) -> None:
    """Makes memory of another allocator device memory for the runtime; never blocks."""

def unregister_device_memory(pointer: int, size: int) -> None: ...
def memcpy(dst: int, src: int, size: int, *, kind: CopyKind = ...) -> None:
    """hipMemcpy: null stream, blocks."""

def memcpy_async(dst: int, src: int, size: int, stream: int, *, kind: CopyKind = ...) -> None:
    """hipMemcpyAsync: blocks for a pageable destination only."""

def memset_async(dst: int, value: int, size: int, stream: int) -> None: ...
def launch_test_kernel(
    stream: int, *, size: int = 4096, rounds: int = 1000, name: str = "test_kernel"
) -> None:
    """A kernel of `size * rounds` logistic-map steps; about half a millisecond at the defaults."""

def launch_test_host_function(stream: int) -> None:
    """A host function that does nothing."""
