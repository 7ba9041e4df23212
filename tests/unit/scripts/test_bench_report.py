"""The browser's benchmark runs, and says what does not hold."""

from __future__ import annotations

import pytest

from overlap_lab.schema import DEVICE_KINDS
from scripts import bench_report
from scripts.chromium import CHROMIUM
from scripts.made_trace import made_trace

FINE = bench_report.Measured(100_000, 200_200, 1_400_000, 0.5, (487.0,), (16.0, 54.0), 20)


def test_a_made_trace_has_as_many_ops_as_asked_for_and_waits() -> None:
    trace = made_trace(1_200)
    assert sum(int(kind in DEVICE_KINDS) for kind in trace.kind.tolist()) == 1_200
    assert [trace.name_of(row) for row in range(len(trace))].count("cudaStreamSynchronize") == 3


def test_what_holds_has_no_fault() -> None:
    assert list(FINE.faults()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"page_bytes": 6_000_001}, "bytes"),
        ({"first_draw_ms": (1_501.0,)}, "first draw"),
        ({"move_ms": (16.0, 201.0)}, "pan or zoom"),
        ({"found": 19}, "19 of 20"),
    ],
)
def test_each_limit_that_is_passed_is_said(change: dict[str, object], words: str) -> None:
    from dataclasses import replace

    [fault] = replace(FINE, **change).faults()  # type: ignore[arg-type]
    assert words in fault


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)")
def test_it_measures_a_small_page_and_finds_every_op(tmp_path) -> None:
    measured = bench_report._measure(2_000, tmp_path)
    assert measured.found == 20
    assert len(measured.move_ms) == 40
    assert min(measured.move_ms) > 0
