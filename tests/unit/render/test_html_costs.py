"""Which costs have a row on the page: the ten largest, and the ten costliest waits."""

from __future__ import annotations

import re
from dataclasses import replace

from overlap_lab.analyze import report_and_context
from overlap_lab.metrics.context import Context
from overlap_lab.render.costs import Cost, Costs, costs_of
from overlap_lab.render.html_costs import cost_list
from overlap_lab.schema import Cause
from tests.timeline import timeline

TRACE = timeline(
    """
    host   1 |L.SSSSSSS....L.SSSSS...L..SS
    stream 0 |.KKKKKKK......KKKKK.....KK..
    """
)


def _made(*, others: int, waits: int) -> tuple[Costs, Context]:
    """So many costs of late launches, all larger than so many waits, which differ by their call."""
    report, context = report_and_context(TRACE)
    costs = costs_of(report, context)
    [wait] = [one for one in costs.found if one.wait is not None]
    made = [Cost(Cause.HOST_LATE, 1_000_000 - at, None, 1, 1_000) for at in range(others)]
    made += [_numbered(wait, at) for at in range(waits)]
    return replace(costs, found=tuple(made)), context


def _numbered(cost: Cost, at: int) -> Cost:
    assert cost.wait is not None
    return replace(cost, idle_ns=1_000 - at, wait=replace(cost.wait, call=f"call{at}"))


def _rows(page: str) -> list[str]:
    """The head of each row, table by table."""
    return re.findall(r'<tr data-cause="\w+"><td><b>([^<]*)</b>', page)


def test_the_ten_costliest_waits_have_a_row_below_larger_costs() -> None:
    costs, context = _made(others=12, waits=11)
    page = cost_list("one", costs, context, zero_ns=0, headed=False)
    assert _rows(page) == ["the host launched late"] * 10 + [f"call{at}" for at in range(10)]
    assert page.count("<table") == 2
    assert page.count("data-rule=") == 10
    assert "3 other costs: 2.00 ms idle, " in page.replace("\u00a0", " ")  # two late launches and a wait


def test_waits_among_the_largest_costs_stand_once() -> None:
    costs, context = _made(others=8, waits=5)
    page = cost_list("one", costs, context, zero_ns=0, headed=False)
    assert _rows(page) == ["the host launched late"] * 8 + [f"call{at}" for at in range(5)]
    assert "other cost" not in page


def test_where_every_wait_is_among_the_largest_there_is_one_table() -> None:
    costs, context = _made(others=3, waits=7)
    assert cost_list("one", costs, context, zero_ns=0, headed=False).count("<table") == 1
