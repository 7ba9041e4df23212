"""The first screens of one device and of a pair in a real browser: what a reader needs is on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from overlap_lab.analyze import report_and_context
from overlap_lab.compare import compare
from overlap_lab.loaders import load
from overlap_lab.render.html import PageSection, write_report_page
from scripts.chromium import CHROMIUM, Tab, chromium
from tests.end_to_end.contrast import CONTRASTS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt install chromium)")
TRACES = Path(__file__).parents[2] / "traces"
FIRST_SCREENS = ((1280, 800), (390, 844))
READY = "document.documentElement.dataset.page === 'ready'"


def _section(name: str) -> PageSection:
    trace = load(TRACES / f"h200_fmha_bwd_{name}_kineto.json.gz")
    return PageSection(name, trace, *report_and_context(trace))


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with chromium() as tab:
        yield tab


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "report.html"
    write_report_page(path, [_section("sync")], title="sync")
    return path


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pair") / "report.html"
    sides = [_section("sync"), _section("async")]
    compared = compare(*(side.report for side in sides))
    write_report_page(path, sides, title="pair", comparisons=[("sync -> async", compared)])
    return path


def _inside(tab: Tab, words: str) -> float:
    """How far down the first paragraph with these words ends."""
    found = tab.value(
        "[...document.querySelectorAll('.card p')].map((one) => "
        "[one.textContent.replaceAll('\\u00a0', ' '), one.getBoundingClientRect().bottom])"
    )
    return float(next(bottom for text, bottom in found if words in text))


@pytest.mark.parametrize("size", FIRST_SCREENS)
def test_the_op_the_lost_lead_and_the_advice_stand_on_the_first_screen(
    tab: Tab, one: Path, size: tuple[int, int]
) -> None:
    tab.size(*size)
    tab.open(one.as_uri(), until=READY)
    for words in (
        "in hip_ext::mha_varlen_bwd, backward layer 0 to 2",
        "idled up to another 202 us",
        "Try first",
    ):
        assert _inside(tab, words) <= size[1]
    assert tab.value("document.documentElement.scrollWidth") <= size[0]
    assert tab.complaints == []


@pytest.mark.parametrize("size", FIRST_SCREENS)
def test_a_pair_says_what_the_free_host_must_wait_for_and_what_is_left(
    tab: Tab, pair: Path, size: tuple[int, int]
) -> None:
    tab.size(*size)
    tab.open(pair.as_uri(), until=READY)
    for words in (
        "It waits at the end for what is queued, 93.9 us → 2.72 ms",
        "5 gaps, the longest 245 us, the others about 68.7 us",
        "Try next, in B",
    ):
        assert _inside(tab, words) <= size[1]


@pytest.mark.parametrize("width", [1280, 390])
def test_the_table_of_a_pair_fits_and_tells_gain_from_loss_by_weight_not_by_colour(
    tab: Tab, pair: Path, width: int
) -> None:
    tab.size(width, 800)
    tab.open(pair.as_uri(), until=READY)
    box = "document.querySelector('.pair .scroll')"
    assert tab.value(f"{box}.scrollWidth - {box}.clientWidth") <= 0
    cells = tab.value(
        "[...document.querySelectorAll('.pair tr.gain, .pair tr.loss')].map((row) => row.cells[3])"
        ".map((cell) => [getComputedStyle(cell).color, getComputedStyle(cell).fontWeight])"
    )
    assert len(cells) >= 4
    ink = tab.value("getComputedStyle(document.body).color")
    assert {tuple(cell) for cell in cells} == {(ink, "600")}
    assert tab.value(CONTRASTS) == []
