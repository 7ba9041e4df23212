"""The report page in a real browser: it draws, it is quiet, and names from a trace stay text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.compare import compare
from overlap_lab.loaders import load
from overlap_lab.render.html import PageSection, write_report_page
from overlap_lab.render.json import reports_to_json
from scripts.chromium import CHROMIUM, Tab, chromium
from tests.end_to_end.contrast import CONTRASTS
from tests.end_to_end.small_trace import write_small_trace

HOSTILE = "</script><img src=x onerror=alert(1)>"
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine (apt install chromium)"
)
DRAWN = "document.documentElement.dataset.page === 'ready'"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def _tags(markup: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(markup)
    return parser.seen


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    sections = []
    for title, name in (("plain", "gemm"), (HOSTILE, HOSTILE)):
        trace = load(write_small_trace(folder / f"{len(sections)}.json", kernel=name, op=name))
        sections.append(PageSection(title, trace, analyze(trace)))
    comparison = compare(sections[0].report, sections[1].report)
    target = folder / "report.html"
    write_report_page(
        target, sections, title=HOSTILE, introduction=HOSTILE, comparisons=[(HOSTILE, comparison)]
    )
    (folder / "report.json").write_text(reports_to_json([section.report for section in sections]))
    return target


@pytest.fixture(scope="module")
def tab(page: Path) -> Iterator[Tab]:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with chromium() as tab:
        tab.size(1280, 900)
        tab.open(page.as_uri(), until=DRAWN)
        yield tab


@needs_chromium
def test_the_timeline_is_drawn_with_a_panel_for_each_section(tab: Tab) -> None:
    assert tab.value("overlapTimeline.data.panels.map((panel) => panel.title)") == ["plain", HOSTILE]


@needs_chromium
def test_a_hostile_name_makes_no_element_in_the_drawn_page(tab: Tab) -> None:
    shown = _tags(tab.value("document.documentElement.outerHTML"))
    assert [(tag, given) for tag, given in shown if any(name.startswith("on") for name in given)] == []
    assert not [tag for tag, _ in shown if tag == "img"]


@needs_chromium
def test_numbers_on_the_page_are_those_of_the_json(tab: Tab, page: Path) -> None:
    saved = json.loads((page.parent / "report.json").read_text())["reports"][0]
    measured = {one["tag"]: one["value"] for one in saved["measurements"] if not one["scope"]}
    shown = tab.value(
        "[...document.querySelector('.card[aria-label]').querySelectorAll('[data-tag]')]"
        ".map((one) => [one.dataset.tag, one.dataset.value])"
    )
    assert len(shown) >= 4
    assert shown == [[tag, str(measured[tag])] for tag, _ in shown]
    heads = [column["name"] for column in saved["tables"]["waits"]["columns"]]
    longest = max(row[heads.index("blocked")] for row in saved["tables"]["waits"]["rows"])
    waits = """[...document.querySelectorAll('h3')].find((one) => one.textContent.startsWith('Waits'))
      .nextElementSibling.querySelector('tbody tr')"""
    assert tab.value(f"[...{waits}.cells].some((cell) => cell.dataset.value === '{longest}')")


@needs_chromium
def test_a_table_is_sorted_by_a_key_press_on_its_head(tab: Tab) -> None:
    blocked = """[...document.querySelectorAll('h3')].find((one) => one.textContent.startsWith('Waits'))
      .nextElementSibling.querySelector('table')"""
    tab.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    column = tab.value(f"[...{blocked}.tHead.rows[0].cells].findIndex((one) => one.textContent === 'at')")
    for expected in ("descending", "ascending"):
        tab.value(f"{blocked}.tHead.rows[0].cells[{column}].firstChild.focus()")
        tab.key("Enter", "\r")
        assert tab.value(f"{blocked}.tHead.rows[0].cells[{column}].getAttribute('aria-sort')") == expected
        values = tab.value(
            f"[...{blocked}.tBodies[0].rows].map((row) => Number(row.cells[{column}].dataset.value))"
        )
        assert values == sorted(values, reverse=expected == "descending")


@needs_chromium
def test_a_table_is_copied_with_exact_values_and_only_the_rows_that_the_filter_leaves(tab: Tab) -> None:
    text = tab.value("asText(document.querySelector('table.act'))").splitlines()
    assert text[0].split("\t")[:4] == ["cost", "device idle", "host blocked", "what to do"]
    idle, blocked = text[1].split("\t")[1:3]
    assert (idle, blocked) == ("60000", "60000")
    tab.value(
        "filterRows(document.querySelector('table.act'), 'no such row', document.createElement('output'))"
    )
    assert len(tab.value("asText(document.querySelector('table.act'))").splitlines()) == 1
    tab.value("filterRows(document.querySelector('table.act'), '', document.createElement('output'))")


@needs_chromium
def test_a_link_of_a_wait_shows_it_on_the_timeline(tab: Tab) -> None:
    start, end = tab.value("document.querySelector('a.spot').hash.slice(3).split(':').map(Number)")
    tab.value("document.querySelector('a.spot').click()")
    shown = tab.value("[overlapTimeline.view.t0, overlapTimeline.view.t1]")
    part = (end - start) / 5  # the wait itself is the middle one of five
    assert shown[0] <= start + 2 * part
    assert shown[1] >= end - 2 * part
    assert shown[1] - shown[0] <= end - start + 1


@needs_chromium
def test_an_address_with_a_moment_opens_at_the_timeline(page: Path) -> None:
    with chromium() as other:
        other.size(1280, 800)
        other.open(f"{page.as_uri()}#t=100us:150us", until=DRAWN)
        other.wait_for("document.getElementById('timeline').getBoundingClientRect().top < 200")
        assert other.value("document.getElementById('timeline').getBoundingClientRect().top") > -200
        assert other.value("overlapTimeline.view") == {"t0": 100_000, "t1": 150_000}


@needs_chromium
def test_a_word_of_ours_explains_itself_when_it_has_the_focus(tab: Tab) -> None:
    shown = "getComputedStyle(document.querySelector('.shares .meaning')).display"
    assert tab.value(shown) == "none"
    tab.value("document.querySelector('.shares .term').focus()")
    assert tab.value(shown) == "block"
    box = tab.value("document.querySelector('.shares .meaning').getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= tab.value("window.innerWidth")
    tab.value("document.activeElement.blur()")


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_window_and_all_text_has_contrast(tab: Tab, width: int, dark: bool) -> None:
    tab.size(width, 900, dark=dark)
    assert tab.value("document.documentElement.scrollWidth") <= width
    assert tab.value(CONTRASTS) == []
    tab.size(1280, 900)


@needs_chromium
def test_on_paper_it_is_light_as_wide_as_the_sheet_and_all_parts_are_open(tab: Tab) -> None:
    tab.value(
        "window.folded = []; document.querySelectorAll('details').forEach((one) => { one.open = false; })"
    )
    closed = "document.querySelectorAll('details:not([open])').length"
    tab.value(f"addEventListener('beforeprint', () => folded.push({closed}))")
    assert tab.pdf().startswith(b"%PDF")
    assert tab.value("folded") == [0]
    assert tab.value("document.querySelectorAll('details[open]').length") == 0
    tab.size(700, 900, dark=True, paper=True)
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.value(CONTRASTS) == []
    canvas = "document.querySelector('.timeline canvas')"
    tab.wait_for(f"{canvas}.getBoundingClientRect().right <= 700")
    pixel = tab.value(f"[...{canvas}.getContext('2d').getImageData(1, 1, 1, 1).data]")
    assert pixel == [255, 255, 255, 255]
    tab.size(1280, 900)


@needs_chromium
def test_the_browser_has_nothing_to_complain_about(tab: Tab) -> None:
    assert tab.complaints == []


def test_a_hostile_name_is_in_the_tables_as_text(page: Path) -> None:
    text = page.read_text()
    assert HOSTILE not in text
    assert "<td>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</td>" in text


def test_nothing_is_fetched_and_the_policy_forbids_it(page: Path) -> None:
    tags = _tags(page.read_text())
    given = [(tag, name, value) for tag, values in tags for name, value in values.items()]
    assert [one for one in given if one[1] in ("src", "srcset", "action", "formaction")] == []
    links = {value for _, name, value in given if name == "href" and value}
    assert {link for link in links if not link.startswith("#t=")} == {"data:,"}
    [policy] = [
        values["content"] for tag, values in tags if values.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_the_page_stays_below_six_megabytes(page: Path) -> None:
    assert page.stat().st_size < 6_000_000
