from __future__ import annotations

from typing import Any, cast

from overlap_lab.cli.demo_results import DemoRun, compared, doubts_of
from tests.unit.render.made_report import made_report

MS = 1_000_000


def runs(*windows_ms: int) -> list[DemoRun]:
    capture = cast("Any", None)
    return [DemoRun(capture, window_ns=ms * MS, idle_ns=0, blocked_ns=0, drains=0) for ms in windows_ms]


def test_runs_that_overlap_do_not_decide_which_mode_is_faster() -> None:
    [(pair, doubt)] = doubts_of({"sync": runs(600, 400), "async": runs(500, 700)}).items()
    assert pair == "sync -> async"
    assert doubt == "UNDECIDED which is faster: all runs took 400 ms to 600 ms against 500 ms to 700 ms"


def test_runs_that_lie_apart_leave_no_doubt() -> None:
    assert doubts_of({"sync": runs(600, 500), "async": runs(400, 499)}) == {}


def test_every_pair_of_modes_is_judged_by_itself() -> None:
    doubts = doubts_of({"sync": runs(6, 8), "async": runs(1, 7), "device": runs(2, 3)})
    assert list(doubts) == ["sync -> async", "async -> device"]


def test_a_doubt_leads_the_notes_of_its_comparison() -> None:
    reports = {"sync": made_report(), "async": made_report()}
    [(_, plain)] = compared(reports, {})
    [(_, doubted)] = compared(reports, {"sync -> async": "UNDECIDED"})
    assert doubted.notes == ("UNDECIDED", *plain.notes)
