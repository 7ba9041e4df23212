"""Draw the traces on the pages of measures and write what was measured in them below.

    python -m scripts.draw_measures

A page holds blocks such as

    <!-- drawn a_wait, a letter is 1 us: host/blocked drain/terminal -->
    <!-- as letters: -->

        host   1 |L.SSSS
        stream 0 |..KK..

whose letters `tests.timeline` reads. Between the two comments go the picture in `docs/measures/drawn/`,
its records in words, and a table of the measures that the first comment names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from overlap_lab.analyze import analyze
from overlap_lab.report import Measurement, Report
from overlap_lab.trace import Trace
from scripts.drawn_lanes import Line, exact, measured_lines, recorded_lines
from scripts.drawn_picture import picture
from tests.timeline import timeline

__all__ = ["PAGES", "Drawing", "drawings_in", "redrawn", "value_of"]

PAGES: Final = Path(__file__).parents[1] / "docs/measures"
FOLDER: Final = "drawn"
_BLOCK: Final = re.compile(
    r"(?P<head><!-- drawn (?P<name>\w+), a letter is (?P<letter>\d+) us: (?P<tags>[^>]+?) -->\n)"
    r"(?P<made>.*?)"
    r"(?P<foot><!-- as letters: -->\n\n)(?P<letters>(?: {4}[^\n]*\n)+)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """One block of a page."""

    name: str
    letter_ns: int
    tags: tuple[str, ...]
    letters: str

    def trace(self) -> Trace:
        return timeline(self.letters, self.letter_ns)


def drawings_in(page: str) -> list[Drawing]:
    """The blocks of a page, in order."""
    return [_drawing(match) for match in _BLOCK.finditer(page)]


def redrawn(page: str) -> tuple[str, dict[str, str]]:
    """The page with its blocks filled in anew, and its pictures by name."""
    pictures: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        drawing = _drawing(match)
        trace = drawing.trace()
        said = _said(recorded_lines(trace))
        pictures[drawing.name] = _picture(drawing, trace, said)
        image = f"![{said}]({FOLDER}/{drawing.name}.svg)"
        table = "\n".join(_table(analyze(trace), drawing.tags))
        return f"{match['head']}{image}\n\n{table}\n\n{match['foot']}{match['letters']}"

    return _BLOCK.sub(fill, page), pictures


def value_of(report: Report, tag: str) -> Measurement:
    """The measurement of that tag for the whole trace, or of `tag@2` for device 2; a stream's of a drawing
    with one, if it says so."""
    tag, _, device = tag.partition("@")
    if device:
        return report.measurement(tag, device=int(device))
    return next(
        one for one in report.measurements if one.tag == tag and (not one.scope or "stream" in one.scope)
    )


def _drawing(match: re.Match[str]) -> Drawing:
    return Drawing(
        match["name"], int(match["letter"]) * 1_000, tuple(match["tags"].split()), match["letters"]
    )


def _picture(drawing: Drawing, trace: Trace, said: str) -> str:
    title = f"A drawn trace: {drawing.name.replace('_', ' ')}"
    lines = recorded_lines(trace), measured_lines(trace, drawing.tags)
    return picture(title, said, *lines, letter_ns=drawing.letter_ns)


def _said(lines: Sequence[Line]) -> str:
    """The recorded lines in words, for who does not see the picture."""
    told = [
        f"{line.label}: "
        + ", ".join(
            f"{bar.words[0]} from {bar.start_ns // 1000} to {exact(bar.end_ns)}"
            for bar in sorted(line.bars, key=lambda bar: bar.start_ns)
        )
        for line in lines
    ]
    return "Timeline. " + ". ".join(told) + "."


def _table(report: Report, tags: Sequence[str]) -> Iterator[str]:
    yield "| measure | value | what it is |"
    yield "| --- | ---: | --- |"
    for tag in tags:
        one = value_of(report, tag)
        yield f"| `{tag}` | {_value(one)} | {one.title} |"


def _value(one: Measurement) -> str:
    if one.value is None:
        return f"none: {one.reason}"
    if one.low is not None and one.high is not None and one.low != one.high:
        return f"{_number(one, one.low)} to {_number(one, one.high)}"
    return _number(one, one.value)


def _number(one: Measurement, value: float) -> str:
    return exact(int(value)) if one.unit == "ns" else f"{value:.3g}"


def main() -> None:
    folder = PAGES / FOLDER
    folder.mkdir(exist_ok=True)
    for path in sorted(PAGES.glob("*.md")):
        text, pictures = redrawn(path.read_text())
        path.write_text(text)
        for name, drawn in pictures.items():
            (folder / f"{name}.svg").write_text(drawn)
            print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
