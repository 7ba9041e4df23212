from __future__ import annotations

from dataclasses import replace

from overlap_lab.compare import Verdict, compare
from overlap_lab.render.compare_text import comparison_text
from overlap_lab.render.compare_words import attributed, headline_words
from overlap_lab.report import Column, Report, Table
from overlap_lab.schema import Cause
from tests.unit.compare.stepped import steps_of
from tests.unit.render.made_report import made_report

FAST = steps_of([20, 21, 20, 22, 20, 21, 20, 20, 21, 20, 21, 22])
SLOW = steps_of([30, 31, 30, 32, 30, 31, 30, 30, 31, 30, 31, 32], drain_us=12)


def test_a_single_run_is_split_by_cause_and_has_no_headline() -> None:
    before, after = made_report(), made_report(idle_us={Cause.DRAIN: 30, Cause.HOST_LATE: 120}, drains=1)
    comparison = compare(before, after)
    assert headline_words(comparison) == ""
    assert list(attributed(comparison)) == [
        "+20.0 % host late, -10.0 % drain after other waits (of the baseline's window)"
    ]


def test_places_beyond_the_first_three_are_counted() -> None:
    def report(*idle_us: int) -> Report:
        rows = tuple((f"wait_{at}", None, None, None, 1_000 * us) for at, us in enumerate(idle_us))
        columns = (*(Column(name, "text") for name in ("call", "op", "frame", "range")), Column("idle", "ns"))
        made = made_report(idle_us={Cause.DRAIN: sum(idle_us)})
        return replace(made, tables={**made.tables, "drains": Table(columns, rows)})

    [words] = attributed(compare(report(10, 10, 10, 10, 10), report(60, 50, 40, 30, 20)))
    assert words.endswith("drain after wait_2, +6.7 % drain after 2 other places (of the baseline's window)")


def test_what_is_behind_a_verdict_is_said_with_the_wait() -> None:
    [words] = attributed(compare(FAST, SLOW))
    assert words.startswith("+48.8 % drain after hipDeviceSynchronize in step #*")


def test_what_chance_may_do_is_not_explained() -> None:
    comparison = compare(FAST, FAST)
    assert comparison.verdict in (Verdict.SAME, Verdict.UNDECIDED)
    assert list(attributed(comparison)) == []


def test_what_cannot_be_compared_is_called_neither_slower_nor_faster() -> None:
    other = FAST.replace(source=replace(FAST.source, tool="another profiler"))
    assert headline_words(compare(other, SLOW)) == "INCOMPARABLE: 20.5 us against 30.5 us per step"


def test_too_few_steps_are_told_before_anything_else() -> None:
    lines = comparison_text(compare(steps_of([20] * 4), steps_of([30] * 4), per="step")).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("UNDECIDED"))
    assert lines[at] == "UNDECIDED: 50.0 % slower per step than the baseline: medians 20.0 us -> 30.0 us"
    assert lines[at + 1] == "  too few observations: a verdict takes at least 5 steps on each side"
