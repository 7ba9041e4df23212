"""A Kineto file of three kernels and a wait in the middle, small enough to count.

thread 7 |L....SSSSSS....L.LDDDDD    L launch, S stream and D device synchronize; a letter is 10 us
stream 7 |.KKKKKKKKK......KKKKKK.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write_small_trace"]


def write_small_trace(
    path: Path, *, kernel: str = "gemm", wait: str = "cudaStreamSynchronize", op: str = "aten::item"
) -> Path:
    """A wait inside a framework op.

    Busy 150 us, one drain of 60 us (return 10, refill 40, launch 10), window 210 us.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        _call("cudaLaunchKernel", 0, 5, 1),
        _kernel(kernel, 10, 90, 1),
        {"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 7, "ts": 48, "dur": 64, "args": {}},
        _call(wait, 50, 60, 2),
        _call("cudaLaunchKernel", 150, 5, 3),
        _kernel(kernel, 160, 30, 3),
        _call("cudaLaunchKernel", 170, 5, 4),
        _kernel(kernel, 190, 30, 4),
        _call("cudaDeviceSynchronize", 180, 50, 5),
    ]
    properties = [{"id": 0, "name": "NVIDIA H200"}]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))
    return path


def _call(name: str, at: int, duration: int, correlation: int) -> dict[str, Any]:
    where = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 7, "ts": at, "dur": duration}
    return where | {"name": name, "args": {"correlation": correlation}}


def _kernel(name: str, at: int, duration: int, correlation: int) -> dict[str, Any]:
    where = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": at, "dur": duration}
    return where | {"name": name, "args": {"correlation": correlation, "device": 0, "stream": 7}}
