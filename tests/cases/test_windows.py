"""Every case and every trace that ships, seen through windows: what people read is told for each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.loaders import find_inputs, load
from overlap_lab.render.costs import costs_of
from overlap_lab.render.html_costs import cost_list
from overlap_lab.render.text import report_text
from overlap_lab.schema import DEVICE_KINDS
from overlap_lab.trace import Trace
from tests.reference.command import ROOT

Window = tuple[int, int]
US = 1_000
_loaded = cache(load)


def _paths() -> list[Path]:
    cases = ROOT / "tests" / "cases" / "data"
    found = [one.path for folder in sorted(cases.iterdir()) for one in find_inputs(folder)]
    return found + sorted(path for path in (ROOT / "traces").iterdir() if path.suffix in (".db", ".gz"))


def _all_of_it(trace: Trace) -> None:
    return None


def _first_half(trace: Trace) -> Window:
    first, last = _ends(trace)
    return first, (first + last) // 2


def _second_half(trace: Trace) -> Window:
    first, last = _ends(trace)
    return (first + last) // 2, last


def _up_to_the_first_op(trace: Trace) -> Window:
    op = _first_op(trace)
    return _ends(trace)[0] - 10 * US, int(trace.end_ns[op])


def _around_the_first_op(trace: Trace) -> Window:
    op = _first_op(trace)
    return int(trace.start_ns[op]) - US, int(trace.end_ns[op]) + 100 * US


def _ends(trace: Trace) -> Window:
    return int(trace.start_ns.min()), int(trace.end_ns.max())


def _first_op(trace: Trace) -> int:
    return int(np.flatnonzero(np.isin(trace.kind, DEVICE_KINDS))[0])


@pytest.mark.parametrize(
    "window_of",
    [_all_of_it, _first_half, _second_half, _up_to_the_first_op, _around_the_first_op],
    ids=lambda each: each.__name__[1:],
)
@pytest.mark.parametrize("path", _paths(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_told_of_a_window(path: Path, window_of) -> None:
    trace = _loaded(path)
    report, context = report_and_context(trace, window=window_of(trace))
    costs = costs_of(report, context)
    if any(costs.by_cause.values()):
        assert sum(one.idle_ns for one in costs.found) == costs.idle_ns
        bare = costs_of(report, None)
        assert sum(one.idle_ns for one in bare.found) == costs.idle_ns
    assert "window" in report_text(report, costs=costs)
    listed = cost_list("one", costs, context, zero_ns=0, headed=True)
    assert listed.count("data-cause=") >= min(len(costs.found), 10)
