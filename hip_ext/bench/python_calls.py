"""Host time of whole Python calls, by workspace mode, on an idle stream and behind torch's products."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

import hip_ext
from hip_ext.bench.plan import Scale

__all__ = ["PythonCalls", "sdpa_backward_ns"]

PRODUCT = 4096


@dataclass(frozen=True, slots=True)
class _Call:
    arguments: dict[str, Any]

    def __call__(self, mode: hip_ext.Workspace) -> None:
        hip_ext.mha_varlen_bwd(**self.arguments, workspace=mode)


def _call(scale: Scale, device: str) -> _Call:
    """As the program's group mode, with sequences of one length."""
    rows = scale.batch * scale.rows
    borders = torch.arange(scale.batch + 1, dtype=torch.int32) * scale.rows
    generator = torch.Generator().manual_seed(11939)
    tensors = {
        name: torch.randn(rows, scale.heads, scale.head_size, generator=generator).to(torch.bfloat16)
        for name in ("dout", "q", "k", "v", "out")
    }
    tensors |= {name: torch.empty_like(tensors["q"]) for name in ("dq", "dk", "dv")}
    tensors["softmax_lse"] = torch.full((scale.heads, rows), 6.0)
    tensors |= {"cu_seqlens_q": borders, "cu_seqlens_k": borders}
    return _Call(
        {
            **{name: tensor.to(device) for name, tensor in tensors.items()},
            "max_seqlen_q": scale.rows,
            "max_seqlen_k": scale.rows,
            "dropout_p": 0.0,
            "softmax_scale": scale.head_size**-0.5,
            "zero_tensors": False,
            "is_causal": False,
            "window_size_left": -1,
            "window_size_right": -1,
            "deterministic": True,
        }
    )


class PythonCalls:
    """`device` is cuda, on which torch's products fill the queue, or cpu: the host target, never busy."""

    def __init__(self, scale: Scale, device: str) -> None:
        self._scale = scale
        self._call = _call(scale, device)
        self._wait: Callable[[], None] = torch.cuda.synchronize if device == "cuda" else hip_ext.synchronize
        self.queues = (0, 1, 10) if device == "cuda" else (0,)
        self.pinned_kinds = ("pool", "torch", "bare") if device == "cuda" else ("pool", "bare")
        size = PRODUCT if device == "cuda" else 0
        self._factor = torch.randn(size, size).to(device, torch.bfloat16)

    def measure(self, queue: int) -> dict[str, list[int]]:
        """Nanoseconds of every call, by mode; the modes take turns."""
        taken: dict[str, list[int]] = {mode.value: [] for mode in hip_ext.Workspace}
        for round_ in range(self._scale.warmup + self._scale.samples):
            for mode in hip_ext.Workspace:
                ns = self._sample(mode, queue)
                if round_ >= self._scale.warmup:
                    taken[mode.value].append(ns)
        return taken

    def measure_pinned(self, queue: int) -> dict[str, list[int]]:
        """The async mode by where its pinned blocks come from; the pool is in use again afterwards."""
        taken: dict[str, list[int]] = {kind: [] for kind in self.pinned_kinds}
        for round_ in range(self._scale.warmup + self._scale.samples):
            for kind in self.pinned_kinds:
                hip_ext.set_pinned_memory(kind)
                ns = self._sample(hip_ext.Workspace.ASYNC, queue)
                if round_ >= self._scale.warmup:
                    taken[kind].append(ns)
        hip_ext.set_pinned_memory("pool")
        return taken

    def _sample(self, mode: hip_ext.Workspace, queue: int) -> int:
        self._wait()
        for _ in range(queue):
            torch.mm(self._factor, self._factor)
        start = time.perf_counter_ns()
        self._call(mode)
        taken = time.perf_counter_ns() - start
        self._wait()
        return taken


def sdpa_backward_ns(scale: Scale) -> list[int]:
    """Device time of torch's flash backward for the program's batch mode, between two events."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    shape = (scale.batch, scale.heads, scale.rows, scale.head_size)
    q, k, v = (torch.randn(shape, dtype=torch.bfloat16, device="cuda", requires_grad=True) for _ in range(3))
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    dout = torch.randn_like(out)
    event: Any = torch.cuda.Event
    taken = []
    for round_ in range(scale.warmup + scale.samples):
        begin, end = (event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)
        end.record()
        torch.cuda.synchronize()
        if round_ >= scale.warmup:
            taken.append(round(begin.elapsed_time(end) * 1e6))
    return taken
