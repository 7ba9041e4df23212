"""A trace of any size: one thread that enqueues kernels and copies on two streams, and waits now and then."""

from __future__ import annotations

from typing import Final

import numpy as np

from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, CopyKind, Kind
from overlap_lab.trace import Source, Trace

__all__ = ["made_trace"]

_EPOCH: Final = 1_700_000_000_000_000_000
_COPY_EVERY: Final = 25
_BLOCK: Final = 500
"""Ops between two waits."""
_CALL_NS: Final = 1_500
_LAUNCH_NS: Final = 4_000


def made_trace(ops: int, *, seed: int = 7, kernel: str = "gemm_{}") -> Trace:
    """`ops` device ops with random lengths and the calls that enqueue them, a stream synchronize after each
    500; `kernel` is the pattern of the kernels' 12 names."""
    random = np.random.default_rng(seed)
    is_copy = np.arange(ops) % _COPY_EVERY == _COPY_EVERY - 1
    duration = random.integers(700, 12_000, ops)
    between = random.integers(_CALL_NS, 9_000, ops)
    gap = random.integers(300, 1_900, ops)
    call, start, waits = _played(between, duration, gap)
    streams = np.where(is_copy, 8, 7)
    names = ("cudaLaunchKernel", "cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", "cudaStreamSynchronize")
    names += tuple(kernel.format(tile) for tile in range(12))
    ids = np.arange(1, ops + 1)
    host, wait = np.zeros(ops, np.int64), np.zeros(len(waits), np.int64)
    columns = {
        "kind": np.concatenate(
            (host + Kind.API, np.where(is_copy, Kind.MEMCPY, Kind.KERNEL), wait + Kind.API)
        ),
        "api": np.concatenate(
            (np.where(is_copy, Api.MEMCPY_ASYNC, Api.LAUNCH), host + Api.NONE, wait + Api.STREAM_SYNC)
        ),
        "name": np.concatenate(
            (is_copy.astype(int), np.where(is_copy, 2, 4 + random.integers(0, 12, ops)), wait + 3)
        ),
        "start_ns": _EPOCH + np.concatenate((call, start, waits[:, 0])),
        "end_ns": _EPOCH + np.concatenate((call + _CALL_NS, start + duration, waits[:, 1])),
        "thread": np.concatenate((host + 4711, host + ABSENT, wait + 4711)),
        "device": np.concatenate((host + ABSENT_DEVICE, host, wait + ABSENT_DEVICE)),
        "stream": np.concatenate((host + ABSENT, streams, wait + ABSENT)),
        "correlation": np.concatenate((ids, ids, ops + 1 + np.arange(len(waits)))),
        "copy_kind": np.concatenate(
            (host, np.where(is_copy, CopyKind.HOST_TO_DEVICE, CopyKind.UNKNOWN), wait)
        ),
    }
    return Trace.from_columns(columns, names=names, source=Source(format="made", devices={0: "made"}))


def _played(
    between: np.ndarray, duration: np.ndarray, gap: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts of calls and ops, and the waits as (start, end): ops run one after the other, none before its
    call has returned and reached the device."""
    call, start = np.empty_like(between), np.empty_like(duration)
    waits, now = [], 0
    for at in range(0, between.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        call[block] = now + np.cumsum(between[block])
        taken = np.cumsum(duration[block] + gap[block]) - (duration[block] + gap[block])
        start[block] = taken + np.maximum.accumulate(call[block] + _LAUNCH_NS - taken)
        asked = int(call[block][-1]) + 2 * _CALL_NS
        now = max(int((start + duration)[block][-1]), asked) + 3_000
        waits.append((asked, now))
    return call, start, np.array(waits, np.int64)
