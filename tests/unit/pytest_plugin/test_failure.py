"""The first line of a failed test says what broke."""

from __future__ import annotations

from typing import Any

import pytest

from overlap_lab.compare.baseline_rules import parse_baseline_rule
from overlap_lab.compare.budget import parse_rule
from overlap_lab.compare.checked import Against, Check, Checked, Culprit, Outcome
from overlap_lab.pytest_plugin.failure import failure_text

STACK = ("runs/test_step.py(19): step", "torch/_ops.py(1279): __call__", "<built-in method item>")
WAIT = Culprit("hipMemcpy", "sync_copy", 12, 42_600_000, 1_040_000, 12, 1, 0, None, "aten::item", STACK)


def first_line(*checked: Checked) -> str:
    return failure_text(Check({}, checked)).splitlines()[0]


def broken(rule: str, value: float | None, **more: Any) -> Checked:
    outcome = Outcome.NO_VALUE if value is None else Outcome.VIOLATED
    return Checked(parse_rule(rule), outcome, value, 1, **more)


def test_it_is_the_rule_the_call_and_the_line() -> None:
    assert first_line(broken("drain/count <= 0", 12, culprits=(WAIT,))) == (
        "drain/count 12 > 0: hipMemcpy at test_step.py:19"
    )


@pytest.mark.parametrize(
    ("rule", "value", "said"),
    [
        ("drain/count = 0", 12, "drain/count 12 > 0"),
        ("drain/count = 3", 2, "drain/count 2 < 3"),
        ("host/blocked per wait < 50us", 50_000, "host/blocked per wait 50.0 us >= 50.0us"),
        ("overlap/ratio >= 0.95", 0.5, "overlap/ratio 0.500 < 0.95"),
        ('overlap/ratio > 0.5 in range "a"', 0.5, 'overlap/ratio 0.500 <= 0.5 in range "a"'),
    ],
)
def test_it_says_how_the_value_breaks_the_limit(rule: str, value: float, said: str) -> None:
    assert first_line(broken(rule, value)) == said


@pytest.mark.parametrize(
    ("rule", "value", "more", "said"),
    [
        (
            "drain/count per step = 0",
            3,
            {"statistic": "worst", "where": "step #7"},
            "drain/count per step worst 3 (step #7) > 0",
        ),
        (
            "host/blocked per wait < 50us",
            60_000,
            {"statistic": "median"},
            "host/blocked per wait median 60.0 us >= 50.0us",
        ),
    ],
)
def test_it_says_which_of_several_values_it_is(rule: str, value: float, more: Any, said: str) -> None:
    assert first_line(broken(rule, value, **more)) == said


def test_it_says_of_how_many_places_it_names_the_costliest() -> None:
    one = broken("drain/count = 0", 23, culprits=(WAIT,), places=9)
    assert first_line(one) == "drain/count 23 > 0: hipMemcpy at test_step.py:19, the costliest of 9 places"


def test_a_median_that_keeps_the_limit_is_not_said_to_break_it() -> None:
    assert first_line(broken('drain/count <= 1 in range "a"', 1, reason="one has 3")).startswith(
        'drain/count <= 1 in range "a": 1'
    )


def test_a_wait_without_a_line_is_named_by_its_op() -> None:
    bare = Culprit("hipMemcpy", "sync_copy", 1, 1, 1, 1, None, None, "backward", None)
    assert first_line(broken("drain/count = 0", 1, culprits=(bare,))).endswith(": hipMemcpy in backward")


def test_others_are_counted_and_what_is_kept_is_not_told_first() -> None:
    kept = Checked(parse_rule("drain/idle < 1ms"), Outcome.FINE, 0, 1)
    count = broken("drain/count = 0", 1)
    assert first_line(kept, count, broken("host/blocked < 1us", None, reason="no host records")) == (
        "drain/count 1 > 0 (and 1 more rule)"
    )
    assert first_line(broken("host/blocked < 1us", None, reason="none")) == "host/blocked < 1.00us: none"


def test_a_rule_about_a_baseline_names_both_sides() -> None:
    rule = parse_baseline_rule('drain/count:0 in range "step"')
    one = Checked(rule, Outcome.VIOLATED, 2, 1, against=Against(0, 1), culprits=(WAIT,))
    assert first_line(one) == 'drain/count 2 against 0 in range "step": hipMemcpy at test_step.py:19'


def test_without_a_verdict_it_says_so() -> None:
    one = Checked(parse_rule("drain/idle < 1ns"), Outcome.UNDECIDED, None, 1, reason="1 observation")
    assert first_line(one).startswith("UNDECIDED drain/idle < ")
    assert first_line(one).endswith(": 1 observation")


def test_a_name_cannot_begin_a_line_of_its_own() -> None:
    evil = Culprit("hip\nMemcpy", "sync_copy", 1, 1, 1, 1, None, None, None, None)
    assert "hip\\nMemcpy" in first_line(broken("drain/count = 0", 1, culprits=(evil,)))
