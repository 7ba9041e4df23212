from __future__ import annotations

from dataclasses import replace

import pytest

from overlap_lab.compare import Sampling, Verdict, compare
from overlap_lab.report import Better, Measurement, Report
from overlap_lab.schema import Cause
from tests.unit.render.made_report import made_report

SYNC = made_report(busy_us=400, idle_us={Cause.DRAIN: 80, Cause.HOST_LATE: 20}, drains=2)
ASYNC = made_report(busy_us=410, idle_us={Cause.HOST_FUNCTION: 30}, drains=0)


def _with(report: Report, measurement: Measurement) -> Report:
    return replace(report, measurements=(*report.measurements, measurement))


def test_the_windows_difference_is_busy_plus_idle_by_cause_exactly() -> None:
    [explained] = compare(SYNC, ASYNC).explanations
    assert explained.window == -60_000
    assert explained.busy == 10_000
    assert {cause: ns for cause, ns in explained.idle.items() if ns} == {
        Cause.DRAIN: -80_000,
        Cause.HOST_LATE: -20_000,
        Cause.HOST_FUNCTION: 30_000,
    }
    assert explained.window == explained.busy + sum(explained.idle.values())


def test_counts_compare_exactly_and_fewer_drains_are_better() -> None:
    drains = compare(SYNC, ASYNC).difference("drain/count")
    assert drains is not None
    assert (drains.baseline, drains.candidate, drains.difference) == (2, 0, -2)
    assert drains.verdict is Verdict.BETTER


@pytest.mark.parametrize(
    ("better", "verdict"),
    [(Better.LOWER, Verdict.WORSE), (Better.HIGHER, Verdict.BETTER), (Better.NEITHER, Verdict.DIFFERENT)],
)
def test_which_way_is_better_is_the_measures_own(better: Better, verdict: Verdict) -> None:
    before, after = (_with(SYNC, Measurement("x", {}, value, "ns", "X", better)) for value in (1, 2))
    found = compare(before, after).difference("x")
    assert found is not None
    assert found.verdict is verdict
    assert found.ratio == 2


def test_a_report_against_itself_is_the_same_everywhere_it_has_a_value() -> None:
    verdicts = {difference.verdict for difference in compare(SYNC, SYNC).differences if not difference.reason}
    assert verdicts == {Verdict.SAME}


def test_a_side_without_a_value_is_incomparable_and_says_why() -> None:
    null = Measurement("overlap/x", {}, None, "ratio", "X", Better.HIGHER, reason="no device records")
    found = compare(_with(SYNC, replace(null, value=0.5, reason=None)), _with(SYNC, null)).difference(
        "overlap/x"
    )
    assert found is not None
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "candidate: no device records"
    assert found.difference is None


def test_from_zero_there_is_a_difference_and_no_ratio() -> None:
    drains = compare(ASYNC, SYNC).difference("drain/count")
    assert drains is not None
    assert drains.difference == 2
    assert drains.ratio is None


def test_values_of_different_signs_have_no_ratio() -> None:
    before, after = (_with(SYNC, Measurement("x", {}, value, "ns", "X", Better.HIGHER)) for value in (4, -2))
    found = compare(before, after).difference("x")
    assert found is not None
    assert (found.difference, found.ratio) == (-6, None)


def test_thread_and_process_numbers_of_two_runs_are_never_matched() -> None:
    scopes = {frozenset(difference.scope) for difference in compare(SYNC, ASYNC).differences}
    assert scopes == {frozenset()}


def test_a_device_number_that_only_one_side_has_is_reported_not_dropped() -> None:
    lone = Measurement("device/busy", {"device": 1}, 5, "ns", "Busy", Better.NEITHER)
    found = compare(_several(SYNC), _with(_several(SYNC), lone)).difference("device/busy", device=1)
    assert found is not None
    assert found.reason == "baseline: not measured"


def test_another_vendor_is_a_note_and_not_an_error() -> None:
    comparison = compare(SYNC, made_report(vendor="nvidia"))
    assert comparison.notes[0] == "the vendors differ: amd against nvidia"
    assert not any("differ" in note for note in compare(SYNC, ASYNC).notes)


def test_what_the_final_waits_are_of_the_blocked_time_is_told() -> None:
    [note] = compare(SYNC, ASYNC).notes
    assert "100 us against 100 us are final waits" in note
    assert "without them it is 200 us against 200 us" in note


def test_one_run_a_side_is_marked() -> None:
    assert compare(SYNC, ASYNC).sampling is Sampling.SINGLE_RUN


def test_a_comparison_is_one_short_line_in_a_shell() -> None:
    same = compare(SYNC, SYNC)
    assert repr(same) == f"Comparison(single run, 0 of {len(same.differences)} measures differ)"


def _several(report: Report) -> Report:
    """The report as one of several devices: without the values of the whole trace."""
    return replace(report, measurements=tuple(m for m in report.measurements if "device" in m.scope))
