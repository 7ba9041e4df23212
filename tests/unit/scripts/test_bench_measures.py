"""The page of pandas that all measures are timed against finds the same busy time and gaps."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from overlap_lab import Trace, analyze, load
from scripts.bench.works_metrics import plain_measures, tiled
from tests.timeline import timeline

ROOT = Path(__file__).resolve().parents[3]


def plain(trace: Trace) -> dict[str, int]:
    names = ("kind", "api", "start_ns", "end_ns", "process", "thread", "device", "correlation")
    return plain_measures(pd.DataFrame({name: getattr(trace, name) for name in names}))


def test_busy_gaps_blocked_and_drains_of_a_drawn_trace() -> None:
    trace = timeline(
        """
        host   1 |LL.SSSSSSo.LL.SSSSS
        stream 0 |..KKKKKKK....KKK...
        """
    )
    assert plain(trace) == {"busy_ns": 10_000, "gaps": 1, "blocked_ns": 11_000, "drains": 2}


def test_a_tiled_trace_has_multiples_that_both_ways_find() -> None:
    one = load(ROOT / "traces" / "fmha_bwd_sync.db")
    many = tiled(one, 5 * len(one))
    assert len(many) == 5 * len(one)
    found = plain(many)
    values = {each.tag: each.value for each in analyze(many).measurements if not each.scope}
    assert found["busy_ns"] == values["device/busy"]
    assert found["gaps"] == values["device/gaps"]
    assert found["busy_ns"] == 5 * plain(one)["busy_ns"]
    assert found["drains"] == values["drain/count"] + values["drain/terminal"]
