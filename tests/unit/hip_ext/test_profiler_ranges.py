"""The launcher's ranges in a capture by torch.profiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function

import hip_ext
from overlap_lab import load
from overlap_lab.schema import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from overlap_lab.trace import Trace

MODES = ("sync", "async", "device")
OP = "hip_ext::mha_varlen_bwd"


def call(mode: hip_ext.Workspace, last_border: int = 3) -> None:
    q, k, v, dout, out = (torch.zeros(3, 2, 16, dtype=torch.bfloat16) for _ in range(5))
    borders = torch.tensor([0, 2, last_border], dtype=torch.int32)
    statistics = torch.zeros(2, 3)
    hip_ext.mha_varlen_bwd(
        *(dout, q, k, v, out, statistics, borders, borders, 2, 2, 0.0, 0.25, False, True, -1, -1, True),
        workspace=mode,
    )


def captured(work: Callable[[], None], path: Path) -> Trace:
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work()
        hip_ext.synchronize()
    profiler.export_chrome_trace(str(path))
    return load(path)


def spans(trace: Trace, kind: Kind, name: str) -> list[tuple[int, int]]:
    return [
        (int(trace.start_ns[i]), int(trace.end_ns[i]))
        for i in range(len(trace))
        if trace.kind[i] == kind and trace.name_of(i) == name
    ]


def inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] <= inner[1] <= outer[1]


@pytest.mark.parametrize("mode", [hip_ext.Workspace(mode) for mode in MODES])
def test_the_preparation_is_a_range_inside_of_its_op(mode: hip_ext.Workspace, tmp_path: Path) -> None:
    call(mode)  # no profiler: it leaves nothing open
    hip_ext.synchronize()

    def work() -> None:
        with record_function("around"):
            call(mode)
            call(mode)

    trace = captured(work, tmp_path / "trace.json")
    ops = spans(trace, Kind.CPU_OP, OP)
    ranges = spans(trace, Kind.RANGE, f"hip_ext prepare {mode}")
    (around,) = spans(trace, Kind.RANGE, "around")
    assert len(ops) == len(ranges) == 2
    assert all(inside(prepared, op) and inside(op, around) for prepared, op in zip(ranges, ops, strict=True))


def test_a_call_that_fails_ends_its_range(tmp_path: Path) -> None:
    def work() -> None:
        with pytest.raises(ValueError, match="seqstart_q or seqstart_k"):
            call(hip_ext.Workspace.SYNC, last_border=9)
        call(hip_ext.Workspace.SYNC)

    trace = captured(work, tmp_path / "trace.json")
    ops = spans(trace, Kind.CPU_OP, OP)
    ranges = spans(trace, Kind.RANGE, "hip_ext prepare sync")
    assert len(ops) == len(ranges) == 2
    assert all(inside(prepared, op) for prepared, op in zip(ranges, ops, strict=True))
