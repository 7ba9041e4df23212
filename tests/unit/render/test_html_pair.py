"""The card of two traces: which is A and which is B, and what each device has on average."""

from __future__ import annotations

import re

from overlap_lab.analyze import report_and_context
from overlap_lab.compare import compare
from overlap_lab.render.costs import costs_of
from overlap_lab.render.html_glance import Glance
from overlap_lab.render.html_pair import change_cards
from overlap_lab.trace import Trace
from tests.timeline import timeline
from tests.unit.render.test_device_words import FED, LATE, ONE_LATE, drawn_devices


def _card(*traces: Trace) -> str:
    sides = []
    for name, trace in zip(("before.json", "after.json"), traces, strict=True):
        report, context = report_and_context(trace)
        sides.append(Glance(name, report, costs_of(report, context), 0))
    return change_cards([("", compare(sides[0].report, sides[1].report))], sides)


def _values(card: str, word: str) -> list[str]:
    [row] = re.findall(rf'<tr[^>]*><td><span class="term" tabindex="0">{word}<.*?</tr>', card)
    return re.findall(r'data-value="(-?\d+)"', row)


def test_the_card_says_which_trace_is_a_and_which_is_b() -> None:
    card = _card(drawn_devices(LATE), drawn_devices(FED))
    assert '<div class="sides"><div><b>A</b> before.json</div><div><b>B</b> after.json</div></div>' in card


def test_one_device_keeps_its_own_numbers() -> None:
    card = _card(drawn_devices(LATE), drawn_devices(FED))
    assert _values(card, "window") == ["18000", "18000", "0"]
    assert _values(card, "host late") == ["5000", "0", "-5000"]
    assert "on average" not in card


def test_several_devices_are_told_by_what_each_has_on_average() -> None:
    card = _card(ONE_LATE, drawn_devices(FED, FED, FED))
    assert "each device, on average" in card
    assert _values(card, "window") == ["18000", "18000", "0"]
    assert _values(card, "host late") == ["1667", "0", "-1667"]  # 5 us on one of three


def test_the_words_are_about_each_device_on_average_and_the_one_that_changed_most() -> None:
    card = _card(ONE_LATE, drawn_devices(FED, FED, FED)).replace("\u00a0", " ")
    said = re.findall(r"<p[^>]*>([^<]*)</p>", card)
    assert said[:3] == [
        "About as fast (0.0 %): window 18.0 us → 18.0 us, each of 3 devices on average.",
        "Gained: host late -1.67 us, launch on its way -1.33 us. Lost: busy +3.00 us.",
        "Most on device 3: idle -9.00 us.",
    ]


def test_a_free_host_that_waits_at_the_end_gains_only_with_other_work() -> None:
    waits = """
    host   1 |L.SSSSSSS..L.SSSSSSS
    stream 0 |..KKKKK....KKKKKKKK.
    """
    free = """
    host   1 |L.L..SSSSSSSSSSSSS..
    stream 0 |..KKKKKkkkkkkkkk....
    """
    card = _card(timeline(waits), timeline(free))
    said = [one.replace("\u00a0", " ") for one in re.findall(r"<p[^>]*>([^<]*)</p>", card)]
    [ends] = [one for one in said if "at the end" in one]
    assert ends.startswith("It waits at the end for what is queued, 7.00 us → 13.0 us: a gain only where")
    assert _values(card, "waiting at the end for queued work") == ["7000", "13000", "6000"]
    assert "host time" in card


def test_of_one_device_no_other_is_named() -> None:
    said = re.findall(r"<p[^>]*>([^<]*)</p>", _card(drawn_devices(LATE), drawn_devices(FED)))
    assert not [words for words in said if "on average" in words or "Most on" in words]
