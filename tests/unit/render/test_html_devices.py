"""The bars of several devices on the first screen, and their numbers."""

from __future__ import annotations

import re

from overlap_lab.analyze import analyze, report_and_context
from overlap_lab.render.costs import costs_of
from overlap_lab.render.html_devices import device_bars, device_facts
from overlap_lab.render.html_glance import Glance, glance
from scripts.many_ranks import ranks
from tests.unit.render.test_device_words import ONE_LATE

REPORT, CONTEXT = report_and_context(ONE_LATE)


def _rows(markup: str) -> list[tuple[str, str]]:
    """Device and idle time of each bar."""
    return re.findall(r'data-tag="device/idle" data-device="(\d+)" data-value="(\d+)"', markup)


def test_each_device_has_a_bar_with_its_exact_idle_time() -> None:
    bars = device_bars(REPORT, 18_000)
    assert _rows(bars) == [("1", "0"), ("2", "0"), ("3", "9000")]
    assert bars.count("<svg") == 3
    assert "host late: 5.00 us, 27.8 % of its 18.0 us window" in bars
    assert re.findall(r'class="name odd">([^<]*)<', bars) == ["device 3"]


def test_of_many_devices_the_most_idle_are_drawn_and_the_others_are_a_range() -> None:
    report = analyze(ranks(12))
    bars = device_bars(report, 1_000_000)
    idle = {str(one.scope["device"]): int(one.value or 0) for one in report.by_tag("device/idle")}
    drawn = dict(_rows(bars))
    assert len(drawn) == 4
    assert min(int(ns) for ns in drawn.values()) >= max(idle[one] for one in idle.keys() - drawn.keys())
    assert "the other 8 devices: " in bars


def test_the_numbers_of_all_devices_are_ranges_and_drains_are_a_sum() -> None:
    said = {
        re.sub("<span class=.meaning.*?</span>|<[^>]*>", "", word): value
        for word, value in device_facts(REPORT)
    }
    assert said == {
        "window of each device": "18.0 us",
        "idle of each device": "0 ns to 9.00 us",
        "waits after which one ran empty": "0",
        "of busy time, the host was free": "100.0 %",
    }


def test_the_card_of_several_devices_tells_the_parts_of_one_on_average() -> None:
    card = glance([Glance("one", REPORT, costs_of(REPORT, CONTEXT), 0)]).replace("\u00a0", " ")
    assert "on average, of 18.0 us:" in card
    [late] = re.findall(r"<li>(?:(?!</li>).)*>host late<.*?</li>", card)
    assert re.sub("<[^>]*>", "", late).endswith(" 9.3 % 1.67 us")  # 5 us of 3 x 18 us
