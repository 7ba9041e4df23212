"""The timeline: host calls, blocked spans, device ops and idle by cause, traces under each other."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from overlap_lab.plots.lanes import (
    Ints,
    Lane,
    Spans,
    blocked_lanes,
    device_lanes,
    devices_in,
    host_lanes,
    idle_lane,
    merge_short,
)
from overlap_lab.plots.palette import COLOURS, GRID, INK
from overlap_lab.render.names import printable, shorten
from overlap_lab.report import Report
from overlap_lab.trace import Trace
from overlap_lab.units import format_ns

__all__ = ["Limits", "Panel", "timeline"]

_PIXELS: Final = 1_200
_LANE_HEIGHT: Final = 30
_PANEL_GAP: Final = 0.14
"""Share of the height between the panels, all gaps together."""
_NAME_WIDTH: Final = 110
_BAR_HEIGHT: Final = 0.76
_EDGE: Final = "rgba(0,0,0,0.5)"
_SMALLEST_WITH_EDGE: Final = 200
"""Bars longer than one 200th of the axis have an edge."""
_UNITS: Final = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One trace of a timeline with what was found in it."""

    title: str
    trace: Trace
    report: Report


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is drawn before short neighbours are joined and quiet lanes are left out, both said below."""

    bars_per_lane: int = 1_500
    threads: int = 8
    streams: int = 8


def timeline(*panels: Panel, limits: Limits = Limits()) -> go.Figure:
    """One figure with a panel for each trace, all on one time axis that starts at each trace's first record.

    Bars are coloured by meaning, the same in every panel; their names and times show on hover. Where a lane
    has more events than `limits` allows, neighbours shorter than a pixel are joined into one bar, and a line
    below the figure says how many.
    """
    notes: list[str] = []
    lanes = [_lanes(panel, limits, notes) for panel in panels]
    longest = max((lane.end_ns for rows in lanes for lane in rows), default=0)
    unit, scale = next((u for u in _UNITS if longest >= u[1]), _UNITS[-1])
    figure = make_subplots(
        rows=max(len(panels), 1),
        cols=1,
        shared_xaxes="all",
        row_heights=[len(rows) + 1 for rows in lanes] or [1],
        vertical_spacing=_PANEL_GAP / max(len(panels) - 1, 1),
        subplot_titles=[f"<b>{html.escape(printable(panel.title), quote=False)}</b>" for panel in panels],
    )
    entries: set[str] = set()
    for number, (panel, rows) in enumerate(zip(panels, lanes, strict=True), start=1):
        drawn = _joined(rows, longest, limits, notes, panel.title)
        for bar in _bars(drawn, scale, longest, entries):
            figure.add_trace(bar, row=number, col=1)
        _label_lanes(figure, number, [lane.label for lane in rows])
    _dress(figure, unit, longest / scale, sum(map(len, lanes)) + 2 * len(panels), notes)
    return figure


def _lanes(panel: Panel, limits: Limits, notes: list[str]) -> list[Lane]:
    shown = [*_busiest(host_lanes(panel.trace), limits.threads, notes, f"{panel.title}: threads")]
    shown += _busiest(blocked_lanes(panel.report), limits.threads, notes, f"{panel.title}: blocked threads")
    for device in devices_in(panel.trace):
        streams = device_lanes(panel.trace, device)
        shown += _busiest(streams, limits.streams, notes, f"{panel.title}: streams of device {device}")
        shown += idle_lane(panel.report, device)
    return shown


def _busiest(lanes: Sequence[Lane], most: int, notes: list[str], what: str) -> list[Lane]:
    if len(lanes) <= most:
        return list(lanes)
    keep = sorted(range(len(lanes)), key=lambda index: -lanes[index].duration_ns)[:most]
    left_out = sum(lane.event_count for index, lane in enumerate(lanes) if index not in set(keep))
    notes.append(
        f"{what}: the {most} busiest of {len(lanes)} are drawn, {_counted(left_out, 'event')} on the others"
    )
    return [lanes[index] for index in sorted(keep)]


def _joined(
    lanes: Sequence[Lane], longest_ns: int, limits: Limits, notes: list[str], title: str
) -> list[Lane]:
    pixel_ns = max(longest_ns // _PIXELS, 1)
    joined = [
        Lane(lane.label, tuple(_thinned(part, pixel_ns, limits.bars_per_lane) for part in lane.parts))
        for lane in lanes
    ]
    changed = [(old, new) for old, new in zip(lanes, joined, strict=True) if new.bar_count < old.bar_count]
    if changed:
        events = _counted(sum(old.event_count for old, _ in changed), "event")
        bars = _counted(sum(new.bar_count for _, new in changed), "bar")
        pixel = format_ns(pixel_ns)
        notes.append(
            f"{title}: on {_counted(len(changed), 'lane')} {events} are drawn as {bars}: those under "
            f"{pixel} that start within the same {pixel} are one, as high as the share that they cover"
        )
    return joined


def _thinned(part: tuple[str, Spans], pixel_ns: int, most: int) -> tuple[str, Spans]:
    entry, spans = part
    return entry, merge_short(spans, pixel_ns=pixel_ns, most=most)


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _bars(lanes: Sequence[Lane], scale: int, longest_ns: int, entries: set[str]) -> Iterable[go.Bar]:
    """One plotly trace for each legend entry, whatever the number of lanes and events."""
    for rank, (entry, colour) in enumerate(COLOURS.items()):
        found = [(at, spans) for at, lane in enumerate(lanes) for name, spans in lane.parts if name == entry]
        if not found:
            continue
        start = np.concatenate([spans.start_ns for _, spans in found])
        end = np.concatenate([spans.end_ns for _, spans in found])
        yield go.Bar(
            orientation="h",
            name=entry,
            legendgroup=entry,
            legendrank=rank,
            showlegend=entry not in entries,
            base=start / scale,
            x=(end - start) / scale,
            y=np.concatenate([np.full(len(spans), at, np.int32) for at, spans in found]),
            width=_heights(start, end, np.concatenate([spans.covered_ns for _, spans in found])),
            marker={"color": colour, "line": {"width": _outlines(end - start, longest_ns), "color": _EDGE}},
            hovertext=[text for _, spans in found for text in _hover(spans)],
            hovertemplate=f"%{{hovertext}}<extra>{entry}</extra>",
        )
        entries.add(entry)


def _heights(start: Ints, end: Ints, covered: Ints) -> npt.NDArray[np.float64]:
    """Full height for one event; for joined ones the share that they cover, but never invisible."""
    share = covered / np.maximum(end - start, 1)
    return np.round(_BAR_HEIGHT * np.clip(np.where(end > start, share, 1.0), 0.12, 1.0), 3)


def _outlines(duration: Ints, longest_ns: int) -> npt.NDArray[np.float64]:
    """An edge parts equal neighbours; on a bar of a few pixels it would be all that one sees."""
    return np.where(duration * _SMALLEST_WITH_EDGE >= longest_ns, 0.6, 0.0)


def _hover(spans: Spans) -> Iterable[str]:
    times = (spans.start_ns, spans.end_ns, spans.events, spans.covered_ns)
    for name, start, end, events, covered in zip(
        spans.names, *(time.tolist() for time in times), strict=True
    ):
        shown = html.escape(shorten(printable(name), _NAME_WIDTH), quote=False)
        several = f"<br>{events:,} events here, {format_ns(covered)} together" if events > 1 else ""
        yield f"<b>{shown}</b><br>{format_ns(end - start)}, at {start / 1000:,.3f} us{several}"


def _label_lanes(figure: go.Figure, number: int, labels: Sequence[str]) -> None:
    figure.update_yaxes(
        row=number,
        tickvals=list(range(len(labels))),
        ticktext=[html.escape(shorten(printable(label), 40), quote=False) for label in labels],
        range=[len(labels) - 0.4, -0.6],
        fixedrange=True,
        showgrid=False,
        zeroline=False,
    )


def _dress(figure: go.Figure, unit: str, length: float, lines: int, notes: Sequence[str]) -> None:
    figure.update_xaxes(
        gridcolor=GRID, zeroline=False, range=[-0.01 * length, 1.01 * length], ticks="outside"
    )
    figure.update_xaxes(
        title_text=f"{unit} after the trace's first record", row=len(figure.layout.annotations) or 1
    )
    figure.update_annotations(x=0, xanchor="left", font={"size": 14})
    legend_height, foot = 60, 64 + 18 * len(notes)
    height = lines * _LANE_HEIGHT + legend_height + foot
    figure.update_layout(
        barmode="overlay",
        height=height,
        margin={"l": 8, "r": 12, "t": legend_height + 20, "b": foot},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1 + 34 / height,
            "x": 0,
            "traceorder": "normal",
        },
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK, "size": 12},
        hoverlabel={"align": "left", "font": {"family": "monospace"}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": INK, "activecolor": COLOURS["kernel"]},
    )
    figure.update_yaxes(automargin=True)
    if notes:
        _say(figure, notes)


def _say(figure: go.Figure, notes: Sequence[str]) -> None:
    lines: list[Any] = [html.escape(printable(note), quote=False) for note in notes]
    figure.add_annotation(
        text="<br>".join(lines),
        xref="paper",
        yref="paper",
        x=0,
        y=0,
        yshift=-62,
        xanchor="left",
        yanchor="top",
        align="left",
        showarrow=False,
        font={"size": 11},
    )
