"""Drawn traces held against budgets; one letter is a microsecond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlap_lab.compare.budget import Budget, parse_allowance, parse_rule
from overlap_lab.compare.check import check
from overlap_lab.compare.checked import Checked, Outcome
from overlap_lab.compare.judgment import judged
from overlap_lab.errors import UsageError
from overlap_lab.pytest_plugin.failure import failure_text
from overlap_lab.render.check_junit import check_to_junit
from overlap_lab.render.check_markdown import check_to_markdown
from overlap_lab.render.check_sarif import check_to_sarif
from overlap_lab.render.check_words import allowed_words, check_text, culprits_head, found_words
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.compare.stepped import stepped


def drained() -> Trace:
    """Two drains in the middle, inside of ranges, and a final wait."""
    return timeline(
        """
        host   1 |OOOOOOOOOOOO.OOOOOOOOOOOOOOOOOO.........
        host   1 |L.SSSSSSSSSS.L.SSSSSSSSSSSSSSSS.L.SSSSSSS
        stream 0 |.KKKKKKKKK....KKKKKKKKKKKKKK....KKKKKKK..
        """
    )


def held(
    trace: Trace, *rules: str, allow: tuple[tuple[str, str], ...] = (), fewest: int = 1
) -> list[Checked]:
    budget = Budget(tuple(map(parse_rule, rules)), tuple(parse_allowance(*one) for one in allow))
    return list(check(trace, budget, fewest=fewest).checked)


def test_a_count_decides_exactly() -> None:
    [kept, broken] = held(drained(), "drain/count <= 2", "drain/count = 0")
    assert (kept.outcome, kept.value) == (Outcome.FINE, 2)
    assert (broken.outcome, broken.value) == (Outcome.VIOLATED, 2)


def test_a_violation_names_the_waits_the_costliest_first() -> None:
    [broken] = held(drained(), "drain/count = 0")
    [culprit] = broken.culprits
    assert (culprit.call, culprit.reason, culprit.count) == ("hipDeviceSynchronize", "device_sync", 2)
    assert culprit.drains == 2
    assert culprit.device == 0
    assert (broken.places, broken.drains) == (1, 2)


def test_the_cost_of_a_wait_is_told_by_its_parts() -> None:
    [broken] = held(drained(), "drain/count = 0")
    [culprit] = broken.culprits
    assert (culprit.idle_ns, culprit.parts_ns) == (8_000, (5_000, 2_000, 1_000))
    text = check_text(check(drained(), Budget((parse_rule("drain/count = 0"),))))
    assert "2 x, 8.00 us idle (return 5.00 us, refill by the host 2.00 us, launch 1.00 us)" in text


def test_a_list_of_the_costliest_places_says_how_many_there_are() -> None:
    names = tuple(f"layer {letter}" for letter in "abcdefg")
    host, stream = "L.SSSS." * 7 + "L.SSSS", ".KKKK.." * 7 + ".KKKK."
    trace = timeline(f"host   1 |{'OOOOOO.' * 7}\nhost   1 |{host}\nstream 0 |{stream}")
    rows, name = np.flatnonzero(trace.kind == Kind.RANGE), trace.name.copy()
    name[rows] = len(trace.names) + np.arange(7)
    found = check(
        trace.replace(names=(*trace.names, *names), name=name), Budget((parse_rule("drain/count = 0"),))
    )
    [one] = found.checked
    assert (len(one.culprits), one.places, one.drains, one.value) == (5, 7, 7, 7)
    said = "the 5 costliest of 7 places that wait, with 5 of their 7 drains"
    assert culprits_head(one) == said
    assert f"    {said}:" in check_text(found).splitlines()
    assert said in check_to_markdown(found)
    assert said in check_to_junit(found)
    assert said in check_to_sarif(found, version="1")
    assert failure_text(found).splitlines()[0] == (
        "drain/count 7 > 0: hipDeviceSynchronize in layer a, the costliest of 7 places"
    )


def test_a_count_per_step_says_which_one_it_shows() -> None:
    trace = stepped(
        "host   1 |OOOOOOOoooooooOOOOOOO\nhost   1 |L.SSSS.L.Q....L.SSSS.\nstream 0 |.KKKK..KKKKKK..KKKK.."
    )
    [broken, kept] = held(trace, "drain/count per step = 0", "drain/count per step <= 1")
    assert (broken.value, broken.statistic, broken.where) == (1, "worst", "step #0")
    assert found_words(broken) == "worst 1 (step #0); in 1 of 3 steps"
    assert (kept.value, kept.statistic) == (0, "median")
    assert found_words(kept) == "median 0 of 3"
    [ranged] = held(trace, 'drain/count = 0 in range "step *"')
    assert ranged.where == "instance 1"
    both = check(
        [timeline("host   1 |L.SSSSS\nstream 0 |.KKKK.."), trace], Budget((parse_rule("drain/count = 0"),))
    )
    assert found_words(both.checked[0]) == "worst 1 (trace 2); in 1 of 2 traces"


def test_the_final_wait_is_no_wait_of_a_per_wait_rule() -> None:
    [one] = held(drained(), "host/blocked per wait < 1us")
    assert one.observations == 2


def test_without_any_wait_but_the_last_such_a_rule_is_kept() -> None:
    trace = timeline(
        """
        host   1 |L.L.L.SSSSSSS
        stream 0 |.KKKKkkkKKKK.
        """
    )
    [one] = held(trace, "host/blocked per wait < 1us")
    assert (one.outcome, one.value, one.observations) == (Outcome.FINE, 0, 0)


def test_a_time_of_one_trace_decides_exactly_unless_more_are_asked_for() -> None:
    assert [one.outcome for one in held(drained(), "drain/idle < 1us")] == [Outcome.VIOLATED]
    [shy] = held(drained(), "drain/idle < 1us", fewest=5)
    assert shy.outcome is Outcome.UNDECIDED
    assert shy.reason == "1 observation, 5 are needed before a time can fail"


def test_several_traces_are_several_observations() -> None:
    budget = Budget((parse_rule("drain/idle < 1us"),))
    [one] = check([drained()] * 5, budget, fewest=5).checked
    assert (one.outcome, one.observations) == (Outcome.VIOLATED, 5)


def test_a_rule_in_a_range_looks_at_each_of_its_instances() -> None:
    [one] = held(drained(), 'drain/count = 0 in range "range"')
    assert (one.outcome, one.observations) == (Outcome.VIOLATED, 2)
    assert one.reason == "in 2 of 2 ranges"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ('drain/count = 0 in range "nowhere"', "no range called 'nowhere'"),
        ("drain/count per step = 0", "the trace has no steps: name them, as in `with overlap_lab.annotate("),
        ("drain/count = 0 on device 7", "the trace has no device 7; it has 0"),
        ("collectives/time < 1s on device 0", "no device operation is a collective by its name"),
        (
            "host/blocked < 1s on device 0",
            "host/blocked is known for the whole trace only, not for each device",
        ),
        ("host/blocked < 1s on thread 99", "no process has a thread 99"),
    ],
)
def test_a_rule_about_what_is_not_there_fails_with_the_reason(rule: str, why: str) -> None:
    [one] = held(drained(), rule)
    assert one.outcome is Outcome.NO_VALUE
    assert why in one.reason


@pytest.mark.parametrize(
    "rule",
    [
        "overlap/ratio > 0.9",
        "drain/count = 0",
        "host/blocked < 1s",
        "host/blocked per wait < 1s",
        "host/redundant_waits <= 9",
        'drain/count = 0 in range "range"',
    ],
)
def test_a_trace_without_device_records_passes_no_rule(rule: str) -> None:
    [one] = held(timeline("host 1 |OOOOOO\nhost 1 |K.SSS"), rule)
    assert one.outcome is Outcome.NO_VALUE
    assert one.reason == "the trace has no device records"


def test_an_allowed_wait_counts_for_no_rule_and_is_told() -> None:
    budget = Budget(
        (parse_rule("drain/count = 0"), parse_rule("overlap/ratio >= 1")),
        (parse_allowance("hipDevice*", "it is the point"), parse_allowance("hipFree", "never there")),
    )
    found = check(drained(), budget)
    assert [one.outcome for one in found.checked] == [Outcome.FINE, Outcome.FINE]
    passed, unused = found.allowed
    assert (passed.waits, passed.blocked_ns, passed.late) == (3, 33_000, 0)
    assert (unused.waits, unused.blocked_ns, unused.late) == (0, 0, 0)
    assert list(allowed_words(found)) == [
        "hipDevice*: it is the point: 3 waits, 33.0 us; 0 late synchronizes",
        "hipFree: never there: 0 waits, 0 late synchronizes; it matched nothing",
    ]


def test_an_allowance_of_a_range_leaves_other_places_alone() -> None:
    [one] = held(drained(), "drain/count = 0", allow=(('hipDevice* in "elsewhere"', "no"),))
    assert one.outcome is Outcome.VIOLATED


def test_no_trace_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no trace"):
        check([], Budget((parse_rule("drain/count = 0"),)))


TIME = parse_rule("host/blocked < 50us")


@given(st.lists(st.floats(50_000, 1e9), min_size=5, max_size=40))
def test_observations_all_over_the_limit_violate_it(observed: list[float]) -> None:
    assert judged(TIME, np.array(observed), fewest=5).outcome is Outcome.VIOLATED


@given(st.lists(st.floats(0, 49_999), min_size=1, max_size=40))
def test_observations_all_below_the_limit_keep_it(observed: list[float]) -> None:
    assert judged(TIME, np.array(observed), fewest=5).outcome is Outcome.FINE


@given(st.lists(st.floats(0, 49_000), min_size=8, max_size=40), st.lists(st.floats(60_000, 1e9), max_size=1))
def test_one_slow_observation_of_many_is_never_red(fast: list[float], slow: list[float]) -> None:
    assert judged(TIME, np.array([*fast, *slow]), fewest=5).outcome is not Outcome.VIOLATED


def test_a_drift_over_the_limit_is_undecided() -> None:
    observed = np.r_[np.full(10, 30_000.0), np.full(10, 70_000.0)]
    one = judged(TIME, observed, fewest=5)
    assert one.outcome is Outcome.UNDECIDED
    assert (one.low, one.high) == (30_000.0, 70_000.0)


@given(st.permutations([float(value) for value in range(1, 12)]))
def test_the_interval_holds_the_median(observed: list[float]) -> None:
    one = judged(TIME, np.array(observed))
    assert one.low is not None
    assert one.high is not None
    assert one.low <= 6.0 <= one.high
