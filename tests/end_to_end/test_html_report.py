"""The report page in a real browser: it draws, it is quiet, and names from a trace stay text."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.compare import compare
from overlap_lab.loaders import load
from overlap_lab.render.html import PageSection, write_report_page
from tests.end_to_end.small_trace import write_small_trace

HOSTILE = "</script><img src=x onerror=alert(1)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on this machine (apt install chromium)"
)


@dataclass(frozen=True)
class Shown:
    dom: str
    console: list[str]
    """What the page or its policy complained about."""


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
    return target


@pytest.fixture(scope="module")
def shown(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    profile = tmp_path_factory.mktemp("profile")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --enable-logging=stderr --virtual-time-budget=20000 "
        "--window-size=1280,1600"
    )
    done = subprocess.run(
        [CHROMIUM, *flags.split(), f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Shown(done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line])


@needs_chromium
def test_the_timeline_is_drawn_with_a_panel_for_each_section(shown: Shown) -> None:
    assert 'data-timeline="drawn"' in shown.dom
    assert len(re.findall(r'<g class="subplot [^"]*"', shown.dom)) == 2
    assert shown.dom.count('class="trace bars"') >= 6


@needs_chromium
def test_the_browser_has_nothing_to_complain_about(shown: Shown) -> None:
    assert shown.console == []


@needs_chromium
def test_a_hostile_name_makes_no_element_in_the_drawn_page(shown: Shown) -> None:
    handlers = [
        (tag, given) for tag, given in _tags(shown.dom) if any(name.startswith("on") for name in given)
    ]
    assert handlers == []
    assert not [tag for tag, _ in _tags(shown.dom) if tag == "img"]


def test_a_hostile_name_is_in_the_tables_as_text(page: Path) -> None:
    text = page.read_text()
    assert HOSTILE not in text
    assert "<td>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;</td>" in text


def test_nothing_is_fetched_and_the_policy_forbids_it(page: Path) -> None:
    tags = _tags(page.read_text())
    given = [(tag, name, value) for tag, values in tags for name, value in values.items()]
    assert [one for one in given if one[1] in ("src", "srcset", "action", "formaction")] == []
    assert [one for one in given if one[1] == "href"] == [("link", "href", "data:,")]
    [policy] = [
        values["content"] for tag, values in tags if values.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split(";")[1]


def test_the_figure_in_the_page_is_data_that_cannot_end_its_script(page: Path) -> None:
    [data] = re.findall(
        r'<script type="application/json" id="figure">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert "<" not in data
    assert {drawn["type"] for drawn in json.loads(data)["data"]} == {"bar", "scatter"}


def test_the_page_stays_below_six_megabytes(page: Path) -> None:
    assert page.stat().st_size < 6_000_000
