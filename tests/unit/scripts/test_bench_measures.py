"""The pages of pandas that all measures are timed against find the same numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from overlap_lab import Trace, analyze, load
from scripts.bench.plain_measures import WANTED, plain_measures
from scripts.bench.works_metrics import tiled
from tests.timeline import timeline

ROOT = Path(__file__).resolve().parents[3]


def plain(trace: Trace) -> dict[str, int]:
    return plain_measures(pd.DataFrame({name: getattr(trace, name) for name in WANTED}))


def reported(trace: Trace) -> dict[str, int | float | None]:
    values = {each.tag: each.value for each in analyze(trace).measurements if not each.scope}
    tags = {
        "busy_ns": "device/busy",
        "gaps": "device/gaps",
        "blocked_ns": "host/blocked",
        "drains": "drain/count",
    }
    return {name: values[tag] for name, tag in tags.items()}


def test_a_drawn_trace() -> None:
    trace = timeline(
        """
        host   1 |LL.SSSSSSo.LL.SSSSS
        stream 0 |..KKKKKKK....KKK...
        """,
        letter_ns=100_000,
    )
    assert plain(trace) == {"busy_ns": 1_000_000, "gaps": 1, "blocked_ns": 1_100_000, "drains": 1}
    assert plain(trace) == reported(trace)


def test_calls_that_may_wait() -> None:
    trace = timeline(
        """
        host   1 |LL.CCCCCCo.LL.SSSSSLL.AAAA.
        stream 0 |..KKKKKCC....KKK.....KKKK.
        """,
        letter_ns=100_000,
    )
    assert plain(trace) == {"busy_ns": 1_400_000, "gaps": 2, "blocked_ns": 1_100_000, "drains": 2}
    assert plain(trace) == reported(trace)


@pytest.mark.parametrize("capture", ["fmha_bwd_async", "fmha_bwd_device", "fmha_bwd_sync"])
def test_captures(capture: str) -> None:
    trace = load(ROOT / "traces" / f"{capture}.db")
    assert plain(trace) == reported(trace)


def test_a_tiled_trace_has_multiples_that_both_ways_find() -> None:
    one = load(ROOT / "traces" / "fmha_bwd_sync.db")
    many = tiled(one, 5 * len(one))
    assert len(many) == 5 * len(one)
    found = plain(many)
    assert found == reported(many)
    assert found["busy_ns"] == 5 * plain(one)["busy_ns"]
