"""The activity API of `cupti.cupti`: what a test enqueues is handed over when the buffers are flushed."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class cuptiError(Exception):  # noqa: N801  its name there
    pass


class ActivityKind(IntEnum):
    MEMCPY = 1
    MEMSET = 2
    DRIVER = 4
    RUNTIME = 5
    CONCURRENT_KERNEL = 10
    MEMCPY2 = 22
    CUDA_EVENT = 37
    SYNCHRONIZATION = 38
    EXTERNAL_CORRELATION = 39


class CallbackDomain(IntEnum):
    DRIVER_API = 1
    RUNTIME_API = 2


class ExternalCorrelationKind(IntEnum):
    CUSTOM0 = 3


NAMES = {211: "cudaLaunchKernel_v7000", 41: "cudaMemcpyAsync_v3020", 131: "cudaStreamSynchronize_v3020_ptsz"}
enabled: set[int] = set()
queued: list[SimpleNamespace] = []
external: list[int] = []
dropped = 0
refuses = False
_taken: list[Callable[[list[Any]], None]] = []


def activity_register_callbacks(requested: Callable[[], tuple[int, int]], completed: Any) -> None:
    size, _ = requested()
    assert size > 0
    _taken[:] = [completed]


def activity_enable(kind: int) -> None:
    if refuses:
        raise cuptiError("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")
    enabled.add(kind)


def activity_disable(kind: int) -> None:
    enabled.discard(kind)


def activity_flush_all(_flag: int) -> None:
    _taken[0]([record for record in queued if record.kind in enabled])
    queued.clear()


def activity_get_num_dropped_records(_context: int, _stream: int, address: int) -> None:
    ctypes.c_size_t.from_address(address).value = dropped


def activity_push_external_correlation_id(_kind: int, number: int) -> None:
    external.append(number)


def activity_pop_external_correlation_id(_kind: int) -> int:
    return external.pop()


def set_thread_id_type(_type: int) -> None: ...


def get_timestamp() -> int:
    return time.time_ns()


def get_callback_name(domain: int, number: int) -> str:
    return NAMES[number] if domain == CallbackDomain.RUNTIME_API else "cuLaunchKernel"
