from __future__ import annotations

from overlap_lab.compare import compare
from overlap_lab.render.compare_text import comparison_text
from tests.unit.render.made_report import made_report

SYNC, ASYNC = made_report(), made_report(name="hipFree")
COMPARISON = compare(SYNC, ASYNC)


def test_each_side_says_its_own_verdict_below_its_name() -> None:
    lines = comparison_text(COMPARISON).splitlines()
    assert lines[:4] == [
        "baseline   run.csv",
        "  hipMemcpy drains device 0",
        "candidate  run.csv",
        "  hipFree drains device 0",
    ]
