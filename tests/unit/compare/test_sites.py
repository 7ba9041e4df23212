from __future__ import annotations

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.compare.sites import ELSEWHERE, DrainedAt, site, sites_of_report
from overlap_lab.metrics.idle import device_idle
from tests.timeline import timeline

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
