"""The drawn traces on the pages of measures: pictures and numbers are those of the letters below them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.report import Measurement
from scripts.draw_measures import FOLDER, PAGES, Drawing, drawings_in, redrawn, value_of

NAMES = sorted(path.name for path in PAGES.glob("*.md"))
DRAWINGS = [
    pytest.param(page, drawing, id=drawing.name)
    for page in NAMES
    for drawing in drawings_in((PAGES / page).read_text())
]
LARGEST_BYTES = 30_000


@pytest.mark.parametrize("name", NAMES)
def test_every_page_shows_a_drawn_trace_as_it_is_drawn_today(name: str) -> None:
    page = (PAGES / name).read_text()
    again, pictures = redrawn(page)
    assert pictures, "no drawn trace"
    assert again == page, "run: python -m scripts.draw_measures"
    for picture, text in pictures.items():
        assert (PAGES / FOLDER / f"{picture}.svg").read_text() == text, "run: python -m scripts.draw_measures"


def test_no_picture_lies_there_unused() -> None:
    used = {f"{drawing.values[1].name}.svg" for drawing in DRAWINGS if isinstance(drawing.values[1], Drawing)}
    assert {path.name for path in (PAGES / FOLDER).iterdir()} == used
    assert len(used) == len(DRAWINGS), "two drawings have one name"


@pytest.mark.parametrize(("page", "drawing"), DRAWINGS)
def test_the_numbers_on_the_page_are_those_of_analyze(page: str, drawing: Drawing) -> None:
    report = analyze(drawing.trace())
    table = _table((PAGES / page).read_text(), drawing.name)
    assert list(table) == list(drawing.tags)
    for tag, shown in table.items():
        assert _read(shown) == _measured(value_of(report, tag)), tag


@pytest.mark.parametrize(("page", "drawing"), DRAWINGS)
def test_a_picture_is_small_and_has_words_for_who_does_not_see_it(page: str, drawing: Drawing) -> None:
    path = PAGES / FOLDER / f"{drawing.name}.svg"
    assert path.stat().st_size < LARGEST_BYTES
    svg = ElementTree.fromstring(path.read_text())
    said = svg.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert f"![{said}](" in (PAGES / page).read_text()
    trace = drawing.trace()
    for row in range(len(trace)):
        start, end = ((int(at[row]) - int(trace.start_ns[0])) / 1000 for at in (trace.start_ns, trace.end_ns))
        assert f"{trace.name_of(row)} from {start:g} to {end:g} us" in said


def test_what_was_drawn_long_ago_is_not_taken_for_today() -> None:
    page = (PAGES / "drains.md").read_text()
    changed = page.replace("|..KKKKK.......KK", "|..KKKK........KK")
    again, pictures = redrawn(changed)
    assert "| `drain/idle` | 8 us |" in again
    assert pictures["a_drain"] != (PAGES / FOLDER / "a_drain.svg").read_text()


def _table(page: str, name: str) -> dict[str, str]:
    """Tag -> what the page says, in the table between the picture and its letters."""
    block = page[page.index(f"/{name}.svg)") :]
    block = block[: block.index("<!-- as letters: -->")]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", block, re.MULTILINE))


def _read(shown: str) -> list[float]:
    """The numbers in a cell, times in ns."""
    scale = 1000 if shown.endswith(" us") else 1
    return [float(number) * scale for number in re.findall(r"[\d.]+", shown)]


def _measured(one: Measurement) -> list[float]:
    if one.low is not None and one.high is not None and one.low != one.high:
        return [one.low, one.high]
    assert one.value is not None
    return [one.value]
