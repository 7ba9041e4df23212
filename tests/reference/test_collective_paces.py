"""Two independent calculations of how fast devices are by themselves agree on random traces of ranks."""

from __future__ import annotations

from collections import Counter

import pytest

from overlap_lab.analyze import analyze
from tests.reference.collective_paces import PACE_TAGS, calculate_paces, rank_trace

TRACES, CHUNK = 300, 50


@pytest.mark.parametrize("first", range(0, TRACES, CHUNK))
def test_the_report_equals_the_plain_calculation(first: int) -> None:
    for seed in range(first, first + CHUNK):
        trace = rank_trace(seed)
        report = analyze(trace)
        expected = calculate_paces(trace)
        measured = {
            device: {tag: report.value(tag, device=device) for tag in PACE_TAGS} for device in expected
        }
        assert measured == expected, f"seed {seed}"


def test_the_random_traces_reach_every_outcome() -> None:
    seen: Counter[str] = Counter()
    for seed in range(TRACES):
        for values in calculate_paces(rank_trace(seed)).values():
            span, launching, work, gain = (values[tag] for tag in PACE_TAGS)
            if span is None or launching is None or work is None:
                seen["unknown"] += 1
                continue
            seen["bound by the host"] += launching > work
            seen["bound by the device"] += work > launching
            seen["blocked"] += launching < span
            seen["gain"] += bool(gain)
            seen["none"] += gain == 0
    assert min(seen[name] for name in ("unknown", "blocked", "gain", "none")) > 20, seen
    assert min(seen[name] for name in ("bound by the host", "bound by the device")) > 20, seen
