"""Counts against a baseline, where a busy machine may have made some of them."""

from __future__ import annotations

import pytest

from overlap_lab.compare.baseline import StoredRun, baseline_of
from overlap_lab.compare.baseline_check import held_against
from overlap_lab.compare.baseline_json import baseline_from_json, baseline_to_json
from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.checked import Checked, Outcome
from overlap_lab.trace import Trace
from tests.timeline import timeline

CERTAIN = ("L.SS...", ".KKK...")
UNSURE = ("L.ZZZZZZZZZZZZZZZZZ...", ".KKKKKKKKKKKKKKKKZ....")
"""A memset that may only have come back late; a letter is 2 us."""


def drained(*, certain: int = 0, unsure: int = 0) -> Trace:
    host, stream = (CERTAIN[at] * certain + UNSURE[at] * unsure for at in (0, 1))
    return timeline(f"host   1 |{host}L\nstream 0 |{stream}.KK", 2_000)


def stored(trace: Trace) -> tuple[StoredRun, ...]:
    text = baseline_to_json(baseline_of("main", [trace]))
    return baseline_from_json(text.encode(), where="here").entries["trace"]


def held(before: Trace, after: Trace, rule: str = "drain/count:0") -> Checked:
    [one], _ = held_against(stored(before), [after], [parse_baseline_rule(rule)])
    return one


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ((0, 0), (1, 0), Outcome.VIOLATED),
        ((0, 0), (0, 1), Outcome.UNDECIDED),
        ((1, 0), (1, 1), Outcome.UNDECIDED),
        ((0, 1), (0, 1), Outcome.FINE),
        ((0, 1), (0, 0), Outcome.FINE),
        ((0, 1), (1, 0), Outcome.UNDECIDED),
        ((0, 1), (2, 0), Outcome.VIOLATED),
        ((2, 0), (1, 1), Outcome.FINE),
    ],
)
def test_only_what_is_certain_breaks_a_count(
    before: tuple[int, int], after: tuple[int, int], outcome: Outcome
) -> None:
    traces = [drained(certain=certain, unsure=unsure) for certain, unsure in (before, after)]
    assert held(traces[0], traces[1]).outcome is outcome


def test_what_may_be_chance_is_named() -> None:
    one = held(drained(), drained(unsure=1))
    assert one.reason == "a busy machine may be all that decides it: hipMemsetAsync lasted 34.0 us"
    [culprit] = one.culprits
    assert culprit.call == "hipMemsetAsync"


def test_what_may_be_chance_in_the_baseline_is_told() -> None:
    assert held(drained(unsure=1), drained(certain=1)).reason == (
        "a busy machine may have made what the baseline counts"
    )


def test_the_file_keeps_what_was_certain() -> None:
    [run] = stored(drained(certain=1, unsure=1))
    assert run.certain["drain/count", ()] == 1
    assert next(m.value for m in run.report.measurements if m.tag == "drain/count" and not m.scope) == 2
