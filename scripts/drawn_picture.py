"""The lines of a picture -> SVG, on paper of its own that follows the reader's light or dark theme."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from overlap_lab.plots.theme import THEMES
from scripts.drawn_lanes import Bar, Line

__all__ = ["picture"]

_WIDTH: Final = 500
_EDGE: Final = 10
_LABEL: Final = 17
_BAR: Final = 22
_LINE: Final = _LABEL + _BAR + 7
_AXIS: Final = 42
_HEAD: Final = 20
_LETTER: Final = 7.2
"""Width of a letter of the bars' text, in the fonts that readers are likely to have."""
_MOST_TICKS: Final = 14
_SHOWN_WIDTH: Final = 600
_LIGHT, _DARK = THEMES["light"], THEMES["dark"]
_STYLE: Final = (
    f".paper{{fill:{_LIGHT.paper}}}text{{fill:{_LIGHT.ink};font:12px sans-serif}}"
    f".grid{{stroke:{_LIGHT.ink};stroke-opacity:.25}}.bar{{stroke:{_LIGHT.ink}}}"
    ".head{font-weight:bold}.on{text-anchor:middle}.dark-ink{fill:#111827}.light-ink{fill:#fff}"
    f"@media(prefers-color-scheme:dark){{.paper{{fill:{_DARK.paper}}}text{{fill:{_DARK.ink}}}"
    f".grid,.bar{{stroke:{_DARK.ink}}}.dark-ink{{fill:#111827}}.light-ink{{fill:#fff}}}}"
)


def picture(
    title: str, said: str, recorded: Sequence[Line], measured: Sequence[Line], *, letter_ns: int
) -> str:
    """The picture as text; `said` tells it to who does not see it."""
    end = max(bar.end_ns for line in (*recorded, *measured) for bar in line.bars)
    scale = (_WIDTH - 2 * _EDGE) / end
    heads = 2 if measured else 1
    height = _EDGE + heads * _HEAD + _LINE * (len(recorded) + len(measured)) + _AXIS
    parts = [*_grid(end, letter_ns, scale, height)]
    top = _EDGE
    for head, lines in (("recorded", recorded), ("measured", measured)):
        if lines:
            parts.append(f'<text class="head" x="{_EDGE}" y="{top + 12}">{head}</text>')
            top += _HEAD
        for line in lines:
            parts += _line(line, top, scale)
            top += _LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_SHOWN_WIDTH}" '
        f'height="{round(height * _SHOWN_WIDTH / _WIDTH)}" role="img">\n'
        f"<title>{html.escape(title)}</title>\n<desc>{html.escape(said)}</desc>\n<style>{_STYLE}</style>\n"
        f'<rect class="paper" width="{_WIDTH}" height="{height}" rx="6"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _grid(end: int, letter_ns: int, scale: float, height: int) -> Iterator[str]:
    """A line for each letter of the drawing, so that lengths can be counted, and numbers on some."""
    letters = end // letter_ns
    every = next(step for step in (1, 2, 5, 10, 20) if letters / step <= _MOST_TICKS)
    low = height - _AXIS
    for number in range(letters + 1):
        x = _round(_EDGE + number * letter_ns * scale)
        yield f'<path class="grid" d="M{x} {_EDGE + _HEAD}V{low}"/>'
        if number % every == 0:
            yield f'<text class="on" x="{x}" y="{low + 15}">{number * letter_ns // 1000}</text>'
    yield f'<text class="on" x="{_WIDTH // 2}" y="{low + 33}">us after the first record</text>'


def _line(line: Line, top: int, scale: float) -> Iterator[str]:
    yield f'<text x="{_EDGE}" y="{top + 12}">{html.escape(line.label)}</text>'
    for bar in line.bars:
        x, width = _EDGE + bar.start_ns * scale, (bar.end_ns - bar.start_ns) * scale
        y = top + _LABEL
        yield (
            f'<rect class="bar" fill="{bar.colour}" x="{_round(x)}" y="{y}" '
            f'width="{_round(width)}" height="{_BAR}"/>'
        )
        word = _fitting(bar, width)
        if word:
            ink = "dark-ink" if _luminance(bar.colour) > 0.18 else "light-ink"
            middle = _round(x + width / 2)
            yield f'<text class="on {ink}" x="{middle}" y="{y + 15}">{html.escape(word)}</text>'


def _fitting(bar: Bar, width: float) -> str:
    return next((word for word in bar.words if len(word) * _LETTER <= width), "")


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it; at 0.18 black and white text are equally far from it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _round(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
