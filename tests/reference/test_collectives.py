"""Two independent calculations of the measures of collectives agree on random traces of several ranks."""

from __future__ import annotations

from collections import Counter

import pytest

from overlap_lab.analyze import analyze
from tests.reference.collectives import TAGS, calculate_collectives, collective_trace

TRACES, CHUNK = 600, 50


@pytest.mark.parametrize("first", range(0, TRACES, CHUNK))
def test_the_report_equals_the_plain_calculation(first: int) -> None:
    for seed in range(first, first + CHUNK):
        trace = collective_trace(seed)
        expected = calculate_collectives(trace)
        report = analyze(trace)
        measured = {device: {tag: report.value(tag, device=device) for tag in TAGS} for device in expected}
        assert measured == expected, f"seed {seed}"


def test_the_random_traces_reach_every_outcome() -> None:
    seen: Counter[str] = Counter()
    for seed in range(TRACES):
        for values in calculate_collectives(collective_trace(seed)).values():
            seen.update(f"no {tag}" if value is None else tag for tag, value in values.items() if value != 0)
            seen["partly"] += 0 < (values["collectives/matched"] or 0) < (values["collectives/count"] or 0)
    assert min(seen[tag] for tag in (*TAGS, "no collectives/waited", "partly")) > 20, seen
