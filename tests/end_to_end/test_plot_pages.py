"""Pages of figures in a real browser: quiet, and on a phone no text is cut or lies on another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overlap_lab import load, plots
from overlap_lab.plots.picture import write_figure
from scripts.chromium import CHROMIUM, Tab, chromium
from tests.end_to_end.small_trace import write_small_trace

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)")

LONG = "a_capture_of_the_second_rank_after_the_change_of_its_loader_1016005.json"
KINDS = ("blocked", "drains", "idle_by_cause", "run_ahead", "queue_depth", "launch_latency", "steps")
TEXTS = """[...document.querySelectorAll("svg text")].filter((one) => one.textContent.trim()).map((one) => {
  const box = one.getBoundingClientRect();
  return [one.textContent, box.left, box.right, box.top, box.bottom];
}).filter(([, left, right]) => right > left)"""
TITLE = """(() => {
  const box = (one) => one ? one.getBoundingClientRect() : null;
  const title = box(document.querySelector(".gtitle")), legend = box(document.querySelector(".legend"));
  return title && legend ? legend.top - title.bottom : 0;
})()"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_all_text_of_a_page_is_inside_and_the_legend_below_the_title(
    kind: str, width: int, tab: Tab, tmp_path: Path
) -> None:
    trace = load(write_small_trace(tmp_path / LONG, op="aten::" + "a_long_name_" * 4))
    page = tmp_path / "x.html"
    write_figure(getattr(plots, kind)(trace), page)
    tab.complaints.clear()
    tab.size(width, 900)
    tab.open(page.as_uri(), until="document.querySelector('.main-svg') !== null")
    texts: list[Any] = tab.value(TEXTS)
    assert texts
    outside = [text for text, left, right, *_ in texts if left < 0 or right > width]
    assert outside == []
    assert tab.value(TITLE) >= 0
    assert tab.complaints == []


def test_a_hostile_name_stays_text_on_a_phone(tab: Tab, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> & a long name with &lt; in it.json"
    trace = load(write_small_trace(tmp_path / hostile))
    page = tmp_path / "x.html"
    write_figure(plots.blocked(trace), page)
    tab.complaints.clear()
    tab.size(390, 900)
    tab.open(page.as_uri(), until="document.querySelector('.main-svg') !== null")
    assert tab.value("document.querySelectorAll('img').length") == 0
    title = tab.value("document.querySelector('.gtitle').textContent")
    assert title.replace(" ", "") == f"{hostile}: host blocked, by call".replace(" ", "")
    assert tab.complaints == []
