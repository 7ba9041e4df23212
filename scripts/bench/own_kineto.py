"""Small Kineto traces as PyTorch writes them, one for each dialect, for where no real capture is given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["DIALECTS", "write_kineto"]

Event = dict[str, Any]

_LAYERS: Final = 24
_STEPS: Final = 8
_LAYER_US: Final = 60.0
_HOST: Final = {"pid": 4001, "tid": 4001}
_KERNELS: Final = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}Functor<float>>(int, float*)",
    "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_{}",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4, {}, false, cutlass::bfloat16_t>>",
)
_OPS: Final = ("aten::linear", "aten::layer_norm", "aten::gelu", "aten::_scaled_dot_product_attention")


@dataclass(frozen=True)
class Dialect:
    """How a version of the profiler writes."""

    launch: str
    wait: str
    call_cat: str
    kernel_cat: str
    op_cat: str
    base_us: int
    text_times: bool = False
    head: Mapping[str, Any] | None = None
    """The object around the list of events; None for a bare list."""


_HEAD: Final = {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1727000000000000000}
DIALECTS: Final = {
    "cuda": Dialect(
        "cudaLaunchKernel", "cudaDeviceSynchronize", "cuda_runtime", "kernel", "cpu_op", 4 * 10**12,
        head=_HEAD | {"cuda_runtime_version": 12040},
    ),
    "rocm": Dialect(
        "hipLaunchKernel", "hipDeviceSynchronize", "cuda_runtime", "kernel", "cpu_op", 4 * 10**12,
        head=_HEAD | {"roctracer_version": 4, "hip_runtime_version": 70253211},
    ),
    "capital": Dialect(
        "cudaLaunchKernel", "cudaDeviceSynchronize", "Runtime", "Kernel", "Operator", 1623 * 10**12,
        head={"schemaVersion": 1},
    ),
    "bare": Dialect(
        "cudaLaunchKernel", "cudaDeviceSynchronize", "cuda_runtime", "kernel", "cpu_op", 10**9,
        text_times=True,
    ),
}  # fmt: skip


def write_kineto(dialect: Dialect, path: Path) -> None:
    """Some training steps: Python frames, operators with shapes, launches, flow arrows, kernels, waits."""
    events = list(_events(dialect))
    for event in events:
        if dialect.text_times:
            event |= {key: f"{event[key]:.3f}" for key in ("ts", "dur") if key in event}
    content = {**dialect.head, "traceEvents": events, "traceName": "t.json"} if dialect.head else events
    path.write_text(json.dumps(content, indent=1))


def _events(dialect: Dialect) -> Iterator[Event]:
    for name, pid in (("python", 4001), ("GPU 0", 0)):
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}}
    for step in range(_STEPS):
        start = dialect.base_us + step * (_LAYERS + 8) * _LAYER_US
        yield _span("user_annotation", f"ProfilerStep#{step}", start, (_LAYERS + 4) * _LAYER_US, {})
        for layer in range(_LAYERS):
            number = step * _LAYERS + layer + 1
            yield from _layer(dialect, number, start + layer * _LAYER_US)
        yield _span(
            dialect.call_cat,
            dialect.wait,
            start + _LAYERS * _LAYER_US,
            3 * _LAYER_US,
            {"correlation": 100_000 + step},
        )


def _layer(dialect: Dialect, number: int, at: float) -> Iterator[Event]:
    frames = {"Python id": number + 1, "Python parent id": number, "Ev Idx": 3 * number}
    yield _span(
        "python_function", f"torch/nn/modules/module.py({number % 24}): _call_impl", at, 55.125, frames
    )
    shapes = {
        "External id": number,
        "Ev Idx": 3 * number + 1,
        "Input Dims": [[8, 128, 1024], [1024, 1024], []],
        "Input type": ["c10::BFloat16", "c10::BFloat16", ""],
    }
    yield _span(dialect.op_cat, _OPS[number % 4], at + 2.25, 40.5, shapes)
    links = {"External id": number, "correlation": number}
    yield _span(dialect.call_cat, dialect.launch, at + 10.75, 6.25, {**links, "cbid": 211})
    yield {"ph": "s", "id": number, **_HOST, "ts": at + 10.75, "cat": "ac2g", "name": "ac2g"}
    where = {"device": 0, "context": 1, "stream": 7 + 13 * (number % 5 == 0)}
    sizes = {"grid": [number, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}
    device = {"pid": 0, "tid": where["stream"]}
    yield {
        **_span(dialect.kernel_cat, _KERNELS[number % 3].format(number % 40), at + 20.125, 38.5, {}),
        **device,
        "args": {**links, **where, **sizes},
    }
    yield {"ph": "f", "id": number, **device, "ts": at + 20.125, "cat": "ac2g", "name": "ac2g", "bp": "e"}


def _span(category: str, name: str, start: float, duration: float, arguments: Mapping[str, Any]) -> Event:
    return {
        "ph": "X", "cat": category, "name": name, **_HOST, "ts": start, "dur": duration, "args": arguments,
    }  # fmt: skip
