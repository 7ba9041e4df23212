"""The first screen of several devices in a real browser: their numbers, and that they are on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.render.html import PageSection, write_report_page
from overlap_lab.render.json import reports_to_json
from scripts.chromium import CHROMIUM, Tab, chromium
from tests.drawn_devices import FED, LATE
from tests.end_to_end.contrast import CONTRASTS
from tests.timeline import timeline

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)")
FIRST_SCREENS = ((1280, 800), (390, 844))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("devices")
    trace = timeline("".join(one.replace("N", str(at)) for at, one in enumerate((FED, FED, FED, LATE))))
    report, context = report_and_context(trace)
    write_report_page(folder / "report.html", [PageSection("ranks", trace, report, context)], title="ranks")
    (folder / "report.json").write_text(reports_to_json([report]))
    return folder / "report.html"


@pytest.fixture(scope="module")
def tab(page: Path) -> Iterator[Tab]:
    with chromium() as tab:
        tab.size(1280, 800)
        tab.open(page.as_uri(), until="document.documentElement.dataset.page === 'ready'")
        yield tab


def test_the_idle_time_of_each_device_on_the_card_is_that_of_the_json(tab: Tab, page: Path) -> None:
    saved = json.loads((page.parent / "report.json").read_text())
    idle = {
        str(one["scope"]["device"]): str(one["value"])
        for one in saved["measurements"]
        if one["tag"] == "device/idle"
    }
    shown = tab.value(
        "[...document.querySelectorAll('.card .each [data-tag]')].map((one) => [one.dataset.device, "
        "one.dataset.value])"
    )
    assert dict(shown) == idle == {"0": "0", "1": "0", "2": "0", "3": "9000"}


@pytest.mark.parametrize("size", FIRST_SCREENS)
def test_bars_and_what_is_different_about_one_stand_on_the_first_screen(
    tab: Tab, size: tuple[int, int]
) -> None:
    tab.size(*size)
    assert tab.value("document.querySelector('.card .each').getBoundingClientRect().bottom") <= size[1]
    assert "Device 3 stands out: host late" in tab.value("document.querySelector('.card').innerText")
    assert tab.value("document.documentElement.scrollWidth") <= size[0]


def test_a_bar_is_as_long_as_its_window_and_parts_as_their_time(tab: Tab) -> None:
    tab.size(1280, 800)
    parts = """[...document.querySelectorAll('.card .each svg')].map((bar) => {
      const whole = bar.getBoundingClientRect().width;
      return [...bar.children].map((part) => Math.round(1000 * part.getBoundingClientRect().width / whole));
    })"""
    assert tab.value(parts) == [[1000], [1000], [1000], [500, 278, 222]]  # 9 us busy, 5 late, 4 on their way
    assert tab.complaints == []


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_contrast(tab: Tab, dark: bool) -> None:
    tab.size(1280, 800, dark=dark)
    assert tab.value(CONTRASTS) == []
    tab.size(1280, 800)


def test_on_a_narrow_screen_an_empty_cell_leaves_no_band_between_cost_and_advice(tab: Tab) -> None:
    tab.size(390, 844)
    tab.value("document.querySelector('table.act').scrollIntoView()")
    gaps = """[...document.querySelectorAll('table.act tbody tr')]
      .filter((row) => row.cells[2].textContent === 'no wait')
      .map((row) => row.cells[3].getBoundingClientRect().top - row.cells[1].getBoundingClientRect().bottom)"""
    found = tab.value(gaps)
    assert found
    assert max(found) < 10
