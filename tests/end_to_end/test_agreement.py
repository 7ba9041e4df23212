"""Two independent calculations of every number agree on 1000 random traces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.report import Report
from overlap_lab.trace import Trace
from tests.reference.calculator import Key, calculate, key
from tests.reference.random_traces import random_trace, rough_trace, trained_trace

TRACES, CHUNK = 1_000, 50


def reported(report: Report) -> dict[Key, int | float | None]:
    return {key(m.tag, **m.scope): m.value for m in report.measurements}


def differences(trace: Trace) -> list[str]:
    """One line for each number that the report and the calculator see differently; empty when they agree."""
    measured, expected = reported(analyze(trace)), calculate(trace)
    return [
        f"{tag} {dict(scope)}: report {measured.get((tag, scope), 'nothing')}, "
        f"calculator {expected.get((tag, scope), 'nothing')}"
        for tag, scope in sorted(measured.keys() | expected.keys())
        if measured.get((tag, scope), "nothing") != expected.get((tag, scope), "nothing")
    ]


@pytest.mark.parametrize("first", range(0, TRACES, CHUNK))
def test_the_report_equals_the_reference_calculator(first: int) -> None:
    assert_agree(random_trace, range(first, first + CHUNK))


def test_they_agree_where_a_floor_is_learned_from_many_calls() -> None:
    assert_agree(trained_trace, range(30))


def test_they_agree_on_what_is_well_defined_in_a_damaged_trace() -> None:
    assert_agree(rough_trace, range(200), only=("device/busy", "device/window", "device/idle ", "quality/"))


def assert_agree(make: Callable[[int], Trace], seeds: range, only: tuple[str, ...] = ("",)) -> None:
    found = [
        f"seed {seed}: {line}" for seed in seeds for line in differences(make(seed)) if line.startswith(only)
    ]
    assert not found, "\n".join(found)
