"""What the summary of a run says of a test and its baseline."""

from __future__ import annotations

from overlap_lab.compare.baseline import baseline_of
from overlap_lab.compare.baseline_check import held_against
from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.checked import Check, Compared
from overlap_lab.pytest_plugin.baselines import summary_line
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import steps_of

QUICK, SLOW = steps_of([10, 11] * 10), steps_of([30, 31] * 10)
DRAINED = timeline("host   1 |L.SSSS.L.SSSS.L.SSSS\nstream 0 |.KKKK...KKKK...KKKK.")
FLOWING = timeline("host   1 |L.....L......L.SSSS\nstream 0 |.KKKKKKkkkkkkkKKKKK")


def line(before: Trace, after: Trace, *rules: str, fails: bool) -> str:
    stored = baseline_of("main", [before]).entries["trace"]
    checked, comparison = held_against(stored, [after], [parse_baseline_rule(rule) for rule in rules])
    return summary_line(
        "t.py::a", Check({}, checked, compared=Compared("main 0001", "m", comparison=comparison)), fails=fails
    )


def test_what_breaks_a_rule_of_the_run_is_violated() -> None:
    said = line(FLOWING, DRAINED, "drain/count:0", fails=True)
    assert said == "VIOLATED     t.py::a: drain/count:0: 2 against 0"


def test_what_is_undecided_beside_it_says_so() -> None:
    said = line(FLOWING, DRAINED, "drain/count:0", "drain/idle:0", fails=True)
    assert said.startswith("VIOLATED     t.py::a: drain/count:0: 2 against 0; UNDECIDED drain/idle:0: ")
    alone = line(FLOWING, DRAINED, "drain/idle:0", fails=True)
    assert alone.startswith("UNDECIDED    t.py::a: drain/idle:0: ")


def test_what_is_worse_without_a_rule_is_worse_and_not_failing() -> None:
    said = line(FLOWING, DRAINED, "drain/count:0", fails=False)
    assert said == (
        "WORSE        t.py::a: drain/count:0: 2 against 0; not failing: no --overlap-compare-fail says what "
        "may not be worse"
    )


def test_what_is_worse_and_keeps_its_rules_is_no_fine_line() -> None:
    said = line(QUICK, SLOW, "drain/count:0", fails=True)
    assert said.startswith("WORSE        t.py::a: WORSE: 190.5 % slower per step than the baseline: ")
    assert said.endswith("; not failing: it keeps the rules there are")


def test_a_value_that_is_missing_without_a_rule_is_called_so() -> None:
    said = line(FLOWING, DRAINED, 'drain/count:0 in range "none"', fails=False)
    assert said.startswith("NO VALUE     t.py::a: ")


def test_the_same_is_fine() -> None:
    steady = steps_of([10] * 20)
    said = line(steady, steady, "drain/count:0", fails=True)
    assert said == (
        "FINE         t.py::a: SAME: no difference per step: medians 10.0 us -> 10.0 us (20 steps against 20)"
    )
