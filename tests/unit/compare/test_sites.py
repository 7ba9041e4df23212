from __future__ import annotations

import numpy as np
import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.compare.baseline import baseline_of
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.compare.sites import ELSEWHERE, DrainedAt, site, sites_of_report
from overlap_lab.metrics.idle import device_idle
from overlap_lab.schema import Kind
from tests.timeline import timeline

APART = timeline(
    """
    host   1 |OOOOOOO.OOOOOO
    host   1 |LSSSS..LSSSS....L.
    stream 0 |.KKKK...kkkk.....K
    """
)
DRAINING = timeline(
    """
    host   1 |OOOOOOOOOOOOOOOOOO
    host   1 |LSSSS..LSSSS....L.    a letter is one us; two drains, of 3 and 5 us
    stream 0 |.KKKK...kkkk.....K
    """
)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("cudaStreamSynchronize", "aten::item", "/a/b/train.py(88): step", "x"),
            "aten::item at train.py:88",
        ),
        (("hipMemcpy", None, None, "layer 2 of 10"), "hipMemcpy in layer * of *"),
        (("hipMemcpy", None, "<built-in method item>", None), "hipMemcpy"),
        ((None, None, None, None), "a wait"),
    ],
)
def test_a_site_leads_to_a_line_or_a_range(words: tuple[str | None, ...], said: str) -> None:
    assert site(*words) == said


def test_long_places_that_begin_alike_stay_apart() -> None:
    name = "layer" * 120
    one, other = (site("hipMemcpy", None, None, name + letter) for letter in "ab")
    assert one != other
    assert one == site("hipMemcpy", None, None, name + "a")
    assert (len(one), one[:40], len(other)) == (500, f"hipMemcpy in {name}"[:40], 500)
    assert site(one, None, None, None) == one


def test_a_baseline_keeps_long_places_apart() -> None:
    name = "layer" * 120
    rows, names = np.flatnonzero(APART.kind == Kind.RANGE), APART.name.copy()
    names[rows] = len(APART.names) + np.arange(2)
    trace = APART.replace(names=(*APART.names, name + "a", name + "b"), name=names)
    text = baseline_to_json(baseline_of("main", [trace]))
    [run] = baseline_from_json(text.encode(), where="here").entries["trace"]
    assert sorted(sites_of_report(run.report).values()) == [3_000, 5_000]
    assert sites_of_report(run.report) == sites_of_report(report_and_context(trace)[0])


def test_the_sites_of_a_window_sum_to_its_idle_time_after_drains() -> None:
    report, context = report_and_context(DRAINING)
    drained = DrainedAt(context, 0)
    assert drained.names == ("hipDeviceSynchronize in range", ELSEWHERE)
    assert drained.within(None).tolist() == [8_000, 0]
    assert drained.within((6_000, 14_000)).tolist() == [4_000, 0]
    for window in ((0, 18_000), (6_000, 14_000), (1_000, 5_000)):
        idle = device_idle(context.within(window), 0)["device/idle/drain"]
        assert drained.within(window).sum() == idle
    assert sites_of_report(report) == {"hipDeviceSynchronize in range": 8_000}
