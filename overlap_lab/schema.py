"""What a trace row can be: the enums and column types that loaders write and metrics read.

A row's nature is asked of `kind`, never of a stream or thread number: 0 is a real stream. A value
that a file does not give is one of the ABSENT sentinels below, each outside of its column's real domain.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final

import numpy as np

__all__ = [
    "ABSENT",
    "ABSENT_DEVICE",
    "ABSENT_PROCESS",
    "ALWAYS_WAITS",
    "COLUMNS",
    "DEVICE_KINDS",
    "EARLIEST_NS",
    "ENQUEUE",
    "EXPORTED_KEY",
    "LATEST_NS",
    "LONGEST_NS",
    "MAY_WAIT",
    "NO_CORRELATION",
    "ORIGIN_FILE",
    "ORIGIN_KEY",
    "THREADS_KEY",
    "Api",
    "Cause",
    "CopyKind",
    "Fault",
    "Kind",
    "Memory",
    "Reason",
]

ABSENT: Final = np.iinfo(np.int64).min
ABSENT_DEVICE: Final = np.iinfo(np.int16).min
ABSENT_PROCESS: Final = np.iinfo(np.int32).min
EARLIEST_NS: Final = -(1 << 60)
LATEST_NS: Final = 1 << 62
LONGEST_NS: Final = 1 << 53
"""What a record's times can be: from 36 years before its clock's zero to 146 after it, up to 100 days long.
What a tool writes beyond that is no time, and sums and differences of it would not fit into 64 bits."""
NO_CORRELATION: Final = 0
"""Correlation id 0 means "unknown" in every format, so it links nothing."""

ORIGIN_KEY: Final = "overlap_lab"
"""The top-level key of a Chrome trace under which our captures say how they were made."""
EXPORTED_KEY: Final = "overlap_lab_trace"
"""The top-level key of a Chrome trace under which our exports keep where the trace came from."""
THREADS_KEY: Final = "overlap_lab_threads"
"""The top-level key of a Chrome trace under which our exports keep the thread of rows on a further lane."""
ORIGIN_FILE: Final = "overlap_lab_origin.json"
"""The file beside the traces of a tool, in which our captures say how they were made."""


class Kind(IntEnum):
    """What a row is. KERNEL, MEMCPY and MEMSET are device ops; nothing else is."""

    API = 0
    """A host call: one runtime or driver API record on a thread."""
    KERNEL = 1
    MEMCPY = 2
    MEMSET = 3
    SYNC = 4
    """A `cuda_sync` row: names the stream or event that a host call waited for. Never device work."""
    RANGE = 5
    """NVTX, roctx, record_function, step annotation on a thread."""
    CPU_OP = 6
    PYTHON = 7
    """A Python frame."""
    DEVICE_RANGE = 8
    """An annotation projected onto the device (`gpu_user_annotation`). Never device work."""
    OVERHEAD = 9
    """The profiler's own work."""


class Api(IntEnum):
    """What a host call does, by its name. `loaders/api_names.py` is the only file that maps names."""

    NONE = 0
    """Not a host call."""
    OTHER = 1
    """A host call that neither enqueues nor waits."""
    LAUNCH = 2
    GRAPH_LAUNCH = 3
    MEMCPY = 4
    """A copy that always waits by name: hipMemcpy, hipMemcpyWithStream, cudaMemcpy, ..."""
    MEMCPY_ASYNC = 5
    MEMSET = 6
    MEMSET_ASYNC = 7
    HOST_FUNC = 8
    """hipLaunchHostFunc, cudaLaunchHostFunc, StreamAddCallback: enqueues, owns no device op."""
    STREAM_SYNC = 9
    DEVICE_SYNC = 10
    EVENT_SYNC = 11
    CONTEXT_SYNC = 12
    QUERY = 13
    """Stream or event query: polling, never a wait."""
    STREAM_WAIT_EVENT = 14
    EVENT_RECORD = 15
    ALLOC = 16
    FREE = 17
    HOST_ALLOC = 18
    """Pinned allocation or registration."""
    HOST_FREE = 19
    ASYNC_ALLOC = 20
    """MallocAsync and FreeAsync: stream-ordered, no wait."""
    STREAM_DESTROY = 21
    MODULE_LOAD = 22
    CAPTURE_BEGIN = 23
    CAPTURE_END = 24


class CopyKind(IntEnum):
    UNKNOWN = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3
    HOST_TO_HOST = 4
    PEER_TO_PEER = 5


class Memory(IntEnum):
    """Host side of a copy, where the file says it."""

    UNKNOWN = 0
    PAGEABLE = 1
    PINNED = 2


class Reason(StrEnum):
    """Why a host call waited; one `host/blocked/<reason>` measure each."""

    STREAM_SYNC = "stream_sync"
    DEVICE_SYNC = "device_sync"
    EVENT_SYNC = "event_sync"
    SYNC_COPY = "sync_copy"
    PAGEABLE_COPY = "pageable_copy"
    ALLOC_FREE = "alloc_free"
    QUEUE_FULL = "queue_full"
    MODULE_LOAD = "module_load"
    LOCK = "lock"
    OTHER = "other"


class Cause(StrEnum):
    """Why a device was idle; one `device/idle/<cause>` measure each, and they sum to idle."""

    UNKNOWN = "unknown"
    DRAIN = "drain"
    HOST_LATE = "host_late"
    LAUNCH = "launch"
    IN_CALL = "in_call"
    HOST_FUNCTION = "host_function"
    DEPENDENCY = "dependency"


class Fault(StrEnum):
    """What can be wrong with a trace; one `quality/<fault>` measure each."""

    UNLINKED_OPS = "unlinked_ops"
    LAUNCHES_WITHOUT_OP = "launches_without_op"
    ID_REUSED = "id_reused"
    INVERTED = "inverted"
    NEGATIVE_DURATION = "negative_duration"
    ZERO_DURATION = "zero_duration"
    CLIPPED = "clipped"
    STREAM_OVERLAP = "stream_overlap"
    ROWS_REPAIRED = "rows_repaired"
    ROWS_SKIPPED = "rows_skipped"
    TRUNCATED = "truncated"
    NO_STREAM = "no_stream"
    GRAPH_OPS = "graph_ops"
    COPIES_WITHOUT_RECORD = "copies_without_record"
    NO_HOST_RECORDS = "no_host_records"
    NO_DEVICE_RECORDS = "no_device_records"


DEVICE_KINDS: Final = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)

ENQUEUE: Final = (
    Api.LAUNCH,
    Api.GRAPH_LAUNCH,
    Api.MEMCPY,
    Api.MEMCPY_ASYNC,
    Api.MEMSET,
    Api.MEMSET_ASYNC,
    Api.HOST_FUNC,
)

ALWAYS_WAITS: Final = (
    Api.STREAM_SYNC,
    Api.DEVICE_SYNC,
    Api.EVENT_SYNC,
    Api.CONTEXT_SYNC,
    Api.MEMCPY,
)

MAY_WAIT: Final = (
    Api.LAUNCH,
    Api.GRAPH_LAUNCH,
    Api.MEMCPY_ASYNC,
    Api.MEMSET,
    Api.MEMSET_ASYNC,
    Api.STREAM_WAIT_EVENT,
    Api.EVENT_RECORD,
    Api.ALLOC,
    Api.FREE,
    Api.HOST_ALLOC,
    Api.HOST_FREE,
    Api.STREAM_DESTROY,
    Api.MODULE_LOAD,
)

COLUMNS: Final[dict[str, np.dtype[np.generic]]] = {
    "kind": np.dtype(np.uint8),
    "api": np.dtype(np.uint8),
    "name": np.dtype(np.int32),
    "start_ns": np.dtype(np.int64),
    "end_ns": np.dtype(np.int64),
    "part": np.dtype(np.int32),
    "process": np.dtype(np.int32),
    "thread": np.dtype(np.int64),
    "device": np.dtype(np.int16),
    "stream": np.dtype(np.int64),
    "queue": np.dtype(np.int64),
    "correlation": np.dtype(np.uint64),
    "wait_correlation": np.dtype(np.uint64),
    "bytes": np.dtype(np.int64),
    "copy_kind": np.dtype(np.uint8),
    "memory": np.dtype(np.uint8),
    "graph": np.dtype(np.int64),
    "depth": np.dtype(np.int32),
}
"""Column name -> dtype, in order. What each holds is in the docstring of `trace.Trace`."""
