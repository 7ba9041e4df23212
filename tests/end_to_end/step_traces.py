"""Kineto files of training steps that wait for their loss in a line of Python, with times to count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write_steps"]

_EPOCH_US = 1_700_000_000_000_000


def write_steps(
    path: Path, *, steps: int = 12, kernel_us: int = 900, late_us: int = 30, start_us: int = 0
) -> Path:
    """Each step launches a kernel, waits for it in aten::item at train.py:88, and thinks for `late_us`.

    A step is kernel_us + late_us + 40 long, and a little more in every third: launch 10 before the kernel,
    return 10 behind it, and 20 until the step ends. The device drains once a step.
    """
    at = _EPOCH_US + start_us
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
    ]
    for number in range(steps):
        kernel = kernel_us + 3 * (number % 3)
        whole = kernel + late_us + 40
        host = [
            ("user_annotation", f"ProfilerStep#{number}", 0, whole, {}),
            ("python_function", "train.py(88): step", 5, kernel + 20, {}),
            ("cpu_op", "aten::item", 8, kernel + 15, {}),
            ("cuda_runtime", "cudaLaunchKernel", 0, 5, {"correlation": 2 * number + 1}),
            ("cuda_runtime", "cudaStreamSynchronize", 12, kernel + 8, {"correlation": 2 * number + 2}),
        ]
        events += [_event(cat, name, at + after, long, 7, args) for cat, name, after, long, args in host]
        where = {"correlation": 2 * number + 1, "device": 0, "stream": 7}
        events.append(_event("kernel", "gemm", at + 10, kernel, 7, where))
        at += whole
    properties = [{"id": 0, "name": "NVIDIA H200"}]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))
    return path


def _event(cat: str, name: str, at: int, long: int, thread: int, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 0 if cat == "kernel" else 1,
        "tid": thread,
        "ts": at,
        "dur": long,
        "args": args,
    }
