"""One look for every figure, light or dark."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from overlap_lab.errors import UsageError
from overlap_lab.plots.palette import GRID
from overlap_lab.render.names import printable, shorten
from overlap_lab.units import format_ns

__all__ = ["THEMES", "Scale", "dressed", "safe", "scale_of"]


@dataclass(frozen=True, slots=True)
class Theme:
    ink: str
    """Text: at least 4.5 to 1 on the paper."""
    paper: str


THEMES: Final = {
    "light": Theme(ink="#374151", paper="#FFFFFF"),
    "dark": Theme(ink="#D1D5DB", paper="#111827"),
}
_LINE: Final = 18
_FOOT: Final = 60


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit that an axis of times is drawn in."""

    unit: str
    ns: int


_SCALES: Final = (Scale("s", 10**9), Scale("ms", 10**6), Scale("us", 10**3), Scale("ns", 1))


def scale_of(longest_ns: float) -> Scale:
    """The largest unit of which the longest time has at least one."""
    return next((scale for scale in _SCALES if longest_ns >= scale.ns), _SCALES[-1])


def safe(text: str, width: int = 80) -> str:
    """A name from a trace as text of a figure: no markup, no control characters, not too long."""
    return html.escape(shorten(printable(text), width), quote=False)


def dressed(
    figure: go.Figure, title: str, *, theme: str, height: int = 420, notes: Sequence[str] = ()
) -> go.Figure:
    """The figure with title, colours and, below it, what was left out. Raises UsageError for no theme."""
    if theme not in THEMES:
        raise UsageError(f"plots: there is no theme {theme!r}; choose light or dark")
    look = THEMES[theme]
    foot = _FOOT + _LINE * len(notes)
    figure.update_layout(
        title={"text": safe(title, 140), "x": 0, "xref": "paper", "font": {"size": 16}},
        height=height + foot,
        margin={"l": 8, "r": 12, "t": 88, "b": foot},
        paper_bgcolor=look.paper,
        plot_bgcolor=look.paper,
        font={"color": look.ink, "size": 12},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1, "x": 0, "traceorder": "normal"},
        hoverlabel={"align": "left", "font": {"family": "monospace"}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": look.ink},
    )
    figure.update_xaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True)
    figure.update_yaxes(gridcolor=GRID, zerolinecolor=GRID, automargin=True)
    if notes:
        _say(figure, notes)
    return figure


def nothing(title: str, why: str, *, theme: str) -> go.Figure:
    """An empty figure that says why."""
    figure = go.Figure()
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(text=safe(why, 200), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    return dressed(figure, title, theme=theme, height=160)


def told(duration_ns: float) -> str:
    """A time for a hover text."""
    return format_ns(round(duration_ns))


def _say(figure: go.Figure, notes: Sequence[str]) -> None:
    lines: list[Any] = [safe(note, 220) for note in notes]
    figure.add_annotation(
        text="<br>".join(lines),
        x=0,
        y=0,
        xref="paper",
        yref="paper",
        yshift=-_FOOT + 8,
        xanchor="left",
        yanchor="top",
        align="left",
        showarrow=False,
        font={"size": 11},
    )
