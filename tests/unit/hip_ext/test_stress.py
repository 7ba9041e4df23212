"""Threads, streams and frees at once: no deadlock, and every result is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

import hip_ext
from hip_ext.forward import varlen_forward
from hip_ext.tests.problems import Shape, varlen_problem
from tests.threads import hold_python, run_at_once, working

if TYPE_CHECKING:
    from torch import Tensor

THREADS, STREAMS, CALLS = 8, 8, 2000
CALLS_BETWEEN_CHECKS = 80
"""Of a thread; as many calls are under way at most."""


class Problem:
    """A tiny deterministic backward, another one for each thread."""

    def __init__(self, number: int) -> None:
        torch.manual_seed(number)
        shape = Shape(2, 1, 8, 8, torch.bfloat16, causal=True)
        problem = varlen_problem(shape, [3, 1 + number], [2, 4])
        assert problem.borders is not None
        self.borders = problem.borders
        q, k, v, dout = problem.tensors
        out, lse = varlen_forward(q, k, v, self.borders, scale=0.3, causal=True)
        self.tensors = (dout, q, k, v, out, lse)

    def backward(self, mode: hip_ext.Workspace, stream: hip_ext.Stream) -> tuple[Tensor, ...]:
        """Its inputs are dropped on return, while the stream still reads them."""
        b = self.borders
        with hip_ext.use_stream(stream):  # a GPU's tensors are the stream's that they are made on
            dout, q, k, v, out, lse = (tensor.clone() for tensor in self.tensors)
            return hip_ext.mha_varlen_bwd(
                *(dout, q, k, v, out, lse, b.cu_seqlens_q.clone(), b.cu_seqlens_k.clone()),
                *(b.max_seqlen_q, b.max_seqlen_k, 0.0, 0.3, False, True, -1, -1, True),
                workspace=mode,
            )


def mode_of(call: int) -> hip_ext.Workspace:
    """Mostly those that do not wait, and both of them on every stream."""
    if call % 50 == 49:
        return hip_ext.Workspace.SYNC
    return hip_ext.Workspace.DEVICE if (call // STREAMS) % 2 else hip_ext.Workspace.ASYNC


def change_pinned_memory() -> None:
    """Blocks out of the pool, and blocks that are allocated and freed in the midst of it."""
    for kind in ("bare", "pool"):
        hip_ext.set_pinned_memory(kind)
        torch.empty(1 << 20).fill_(torch.nan)


def test_threads_streams_and_frees_get_along() -> None:
    problems = [Problem(number) for number in range(THREADS)]
    hip_ext.synchronize()
    expected = [problem.backward(hip_ext.Workspace.DEVICE, hip_ext.NULL_STREAM) for problem in problems]
    hip_ext.synchronize()
    streams = [hip_ext.Stream() for _ in range(STREAMS)]
    checked = [0] * THREADS

    def run(number: int) -> None:
        for first in range(0, CALLS, CALLS_BETWEEN_CHECKS):
            found = [
                problems[number].backward(mode_of(call), streams[(call + number) % STREAMS])
                for call in range(first, first + CALLS_BETWEEN_CHECKS)
            ]
            for stream in streams:
                stream.synchronize()
            for results in found:
                assert all(map(torch.equal, results, expected[number]))
            checked[number] += len(found)

    with working(hold_python), working(change_pinned_memory):
        run_at_once(THREADS, run, timeout_s=240)
    hip_ext.set_pinned_memory("pool")
    hip_ext.check()
    assert checked == [CALLS] * THREADS
