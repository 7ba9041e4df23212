"""Several devices on the card: what each has on average, which has the most, which one differs and how."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.metrics.unlike import most_unlike, set_apart
from overlap_lab.render.costs import costs_of
from overlap_lab.render.device_words import (
    devices_of,
    each_words,
    odd_one,
    range_words,
    several_words,
)
from overlap_lab.render.headline import headline
from overlap_lab.render.html_glance import Glance, glance
from overlap_lab.render.text import report_text
from overlap_lab.report import Report
from overlap_lab.trace import Trace
from tests.drawn_devices import FED, LATE
from tests.timeline import timeline


def drawn_devices(*drawn: str) -> Trace:
    """Devices 1, 2, ..., each with a process of its own."""
    return timeline("".join(one.replace("N", str(at)) for at, one in enumerate(drawn, start=1)))


ONE_LATE = drawn_devices(FED, FED, LATE)


def _report(*, names: dict[str, str]) -> Report:
    report, _ = report_and_context(ONE_LATE)
    return replace(report, source={**report.source, "devices": names})


def test_a_mean_names_the_device_with_the_most_only_where_it_has_more_than_the_others() -> None:
    parts = ((5, 60), (2, 20), (3, 20))
    assert each_words(100, 400, parts, 4) == "25 ns of each device's 100 ns (25.0 %), most on device 5: 60 ns"
    assert each_words(100, 400, ((0, 26), (1, 25)), 4) == "25 ns of each device's 100 ns (25.0 %)"
    assert each_words(60, 400, ((5, 60),), 4).endswith(", all on device 5: 60 ns")
    assert each_words(60, 400, (), 4) == "15 ns of each device's 100 ns (15.0 %)"


def test_the_device_that_stands_out_is_told_with_its_cause_and_what_to_compare() -> None:
    report, context = report_and_context(ONE_LATE)
    odd = odd_one(report)
    assert odd is not None
    assert odd.said == (
        "Device 3 stands out: host late 5.00 us (0 ns on the others); "
        "its deepest queue held 1 op (3 or more on the others)."
    )
    assert odd.advice.startswith("Compare the process that feeds device 3 with the others: ")
    costs = costs_of(report, context)
    assert odd.said in headline(report, costs).sentences
    card = glance([Glance("one", report, costs, 0)])
    first, then = re.findall(r'<p class="try">(.*?)</p>', card)
    assert first.startswith("<b>Try first: </b>Compare the process that feeds device 3 ")
    assert then.startswith("<b>Then: </b>")


def test_the_terminal_tells_the_odd_device_before_its_tables() -> None:
    report, context = report_and_context(ONE_LATE)
    text = report_text(report, costs=costs_of(report, context), width=200)
    lines = [line.partition(":")[0] for line in text.splitlines()]
    first = lines.index("Device 3 stands out")
    assert lines[first + 1] == "try first"
    assert lines[first + 2] == "then"
    assert first + 2 < next(at for at, line in enumerate(lines) if line.startswith("Devices, window"))


def test_devices_that_are_alike_have_no_odd_one() -> None:
    assert odd_one(report_and_context(drawn_devices(LATE, LATE, LATE))[0]) is None


def test_a_device_that_idles_less_than_the_others_is_named_but_has_nothing_to_try() -> None:
    report, _ = report_and_context(drawn_devices(LATE, FED, LATE))
    devices = devices_of(report)
    assert devices.odd == (2,)
    assert range_words(devices) == "device 2: 0.0 %, the others: 50.0 %"
    assert odd_one(report) is None


def test_many_odd_devices_are_counted() -> None:
    devices = devices_of(_report(names={}))
    shares = {0: 0.9, 1: 0.8, 2: 0.7, **dict.fromkeys(range(3, 9), 0.1)}
    many = replace(devices, shares=shares, odd=set_apart(shares))
    assert range_words(many) == "device 0: 90.0 %, device 1: 80.0 %, 1 more apart, the others: 10.0 %"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({}, "3 devices"),
        ({"1": "MI300X", "2": "MI300X", "3": "MI300X"}, "3 devices (MI300X)"),
        ({"1": "MI300X", "2": "MI300X", "3": "MI250X"}, "3 devices"),
    ],
)
def test_a_model_is_named_where_all_devices_have_it(names: dict[str, str], said: str) -> None:
    assert several_words(_report(names=names)) == said


def test_nothing_is_unlike_where_a_device_has_the_least_of_all() -> None:
    assert most_unlike({"late": {0: 5, 1: 6, 2: 4}}, 2, [0, 1]) is None
    assert most_unlike({"late": {0: 5}}, 0, []) is None


def test_devices_that_never_idle_were_busy_for_their_windows() -> None:
    report, context = report_and_context(drawn_devices(FED, FED))
    shown = Glance("one", report, costs_of(report, context), 0)
    assert headline(report, shown.costs).sentences[0] == "2 devices were busy for all of their windows."
    assert ">unknown<" not in glance([shown])


def test_devices_that_idle_alike_have_one_share() -> None:
    report, context = report_and_context(drawn_devices(LATE, LATE))
    said = headline(report, costs_of(report, context)).sentences[0]
    assert said == "2 devices stood idle for 9.00 us of their 18.0 us on average, 50.0 % each."
