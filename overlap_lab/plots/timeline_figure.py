"""The timeline: host calls, blocked spans, device ops and idle by cause, traces under each other."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from overlap_lab.errors import UsageError
from overlap_lab.metrics.context import Context
from overlap_lab.plots.arrows import arrows_of
from overlap_lab.plots.lanes import (
    Ints,
    Lane,
    Spans,
    annotation_lanes,
    blocked_lanes,
    device_lanes,
    host_lanes,
    idle_lanes,
    merge_short,
    origin_ns,
    work_of_devices,
)
from overlap_lab.plots.palette import COLOURS, INK
from overlap_lab.plots.runs import context_of_run, device_word, title_of, untold
from overlap_lab.plots.theme import dressed, nothing, safe, scale_of
from overlap_lab.render.names import printable, shorten
from overlap_lab.render.timeline_data import aligned_zero_ns
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
_LEGEND: Final = 60
_MOST_ARROWS: Final = 1_000
_EDGE: Final = "rgba(0,0,0,0.5)"
_SMALLEST_WITH_EDGE: Final = 200
"""Bars longer than one 200th of the axis have an edge."""


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One trace of a timeline with what was found in it."""

    title: str
    trace: Trace
    report: Report
    context: Context | None = None
    """What `report_and_context` returned beside the report; without, arrows measure the trace once more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is drawn before short neighbours are joined and quiet lanes are left out, both said below."""

    bars_per_lane: int = 1_500
    threads: int = 8
    streams: int = 8
    devices: int = 16


def timeline(
    *runs: Trace | Panel,
    window: tuple[int, int] | None = None,
    align: str | None = None,
    limits: Limits = Limits(),
    theme: str = "light",
) -> go.Figure:
    """One figure with a panel for each trace, all on one time axis that starts at each trace's first record.

    Bars are coloured by meaning, the same in every panel; their names and times show on hover. `window` is a
    stretch in ns after the first record: what lies in it is drawn. `align` is the name of a range, a step, a
    framework op or a call that all traces have: its first start is time 0 of each panel then, and the window
    counts from there. "arrows" in the legend shows, when clicked, from which call each op came and which op
    each wait returned with.

    Where a lane has more events than `limits` allows, neighbours shorter than a pixel are joined into one
    bar, and a line below the figure says how many. Raises UsageError for an empty window, and where
    a trace has no event called `align`.
    """
    if not runs:
        return nothing("timeline", "no trace was given", theme=theme)
    if window is not None and window[1] <= window[0]:
        raise UsageError(f"timeline: the window {window[0]}:{window[1]} is empty")
    panels = [run if isinstance(run, Panel) else _measured(run) for run in runs]
    notes = [f"{panel.title}: {missing}" for panel in panels if (missing := untold(panel.report))]
    offsets = [0 if align is None else _shift_ns(panel.trace, align) for panel in panels]
    lanes = [
        _shown(panel, offset, window, limits, notes) for panel, offset in zip(panels, offsets, strict=True)
    ]
    first = window[0] if window else min((lane.start_ns for rows in lanes for lane in rows), default=0)
    last = window[1] if window else max((lane.end_ns for rows in lanes for lane in rows), default=1)
    scale = scale_of(last - first)
    figure = make_subplots(
        rows=len(panels),
        cols=1,
        shared_xaxes="all",
        row_heights=[len(rows) + 1 for rows in lanes],
        vertical_spacing=_PANEL_GAP / max(len(panels) - 1, 1),
        subplot_titles=[f"<b>{safe(panel.title, 120)}</b>" for panel in panels],
    )
    entries: set[str] = set()
    for number, (panel, rows) in enumerate(zip(panels, lanes, strict=True), start=1):
        drawn = _joined(rows, last - first, limits, notes, panel.title)
        for bar in _bars(drawn, scale.ns, last - first, entries):
            figure.add_trace(bar, row=number, col=1)
        _add_arrows(figure, number, panel, rows, (offsets[number - 1], scale.ns, first, last))
        _label_lanes(figure, number, [lane.label for lane in rows])
    from_where = f"the first {align}" if align else "the trace's first record"
    _dress(
        figure,
        (first / scale.ns, last / scale.ns, f"{scale.unit} after {safe(from_where)}"),
        lanes,
        notes,
        theme,
    )
    return figure


def _shift_ns(trace: Trace, align: str) -> int:
    return origin_ns(trace) - aligned_zero_ns(trace, align)


def _measured(run: Trace) -> Panel:
    return Panel(title_of(run), run, *context_of_run(run))


def _shown(
    panel: Panel, offset: int, window: tuple[int, int] | None, limits: Limits, notes: list[str]
) -> list[Lane]:
    lanes = [lane.moved(offset) if offset else lane for lane in _lanes(panel, limits, notes)]
    if window is None:
        return lanes
    inside = [lane.within(*window) for lane in lanes]
    return [lane for lane in inside if lane.parts]


def _lanes(panel: Panel, limits: Limits, notes: list[str]) -> list[Lane]:
    shown = _busiest(annotation_lanes(panel.trace), limits.threads, notes, f"{panel.title}: ranges and ops")
    shown += _busiest(host_lanes(panel.trace), limits.threads, notes, f"{panel.title}: threads")
    shown += _busiest(blocked_lanes(panel.report), limits.threads, notes, f"{panel.title}: blocked threads")
    idle = idle_lanes(panel.report)
    for device in _busiest_devices(panel, limits.devices, notes):
        streams = device_lanes(panel.trace, device)
        shown += _busiest(streams, limits.streams, notes, f"{panel.title}: streams of {device_word(device)}")
        shown += idle.get(device, [])
    return shown


def _busiest_devices(panel: Panel, most: int, notes: list[str]) -> list[int]:
    devices, work, count = work_of_devices(panel.trace)
    if len(devices) <= most:
        return devices
    keep = sorted(range(len(devices)), key=lambda index: -work[index])[:most]
    left_out = sum(count) - sum(count[index] for index in keep)
    notes.append(
        f"{panel.title}: the {most} busiest of {len(devices):,} devices are drawn, "
        f"{_counted(left_out, 'op')} on the others"
    )
    return [devices[index] for index in sorted(keep)]


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


def _add_arrows(
    figure: go.Figure, number: int, panel: Panel, lanes: Sequence[Lane], view: tuple[int, int, int, int]
) -> None:
    """Lines between lanes, hidden until asked for: at most so many, from the costliest waits on."""
    offset, scale, first, last = view
    context = panel.context or context_of_run(panel.trace)[1]
    found = [
        arrow
        for arrow in arrows_of(panel.trace, context, lanes, most=_MOST_ARROWS, offset_ns=offset)
        if arrow.end_ns > first and arrow.begin_ns < last
    ]
    if not found:
        return
    x: list[float | None] = []
    y: list[float | None] = []
    for arrow in found:
        x += [arrow.begin_ns / scale, arrow.end_ns / scale, None]
        y += [arrow.begin_lane, arrow.end_lane, None]
    figure.add_trace(
        go.Scatter(
            name="arrows",
            legendgroup="arrows",
            legendrank=1_000,
            showlegend=number == 1,
            visible="legendonly",
            x=x,
            y=y,
            mode="lines+markers",
            line={"color": INK, "width": 1},
            marker={"symbol": "arrow", "size": 8, "angleref": "previous", "color": INK},
            hoverinfo="skip",
        ),
        row=number,
        col=1,
    )


def _dress(
    figure: go.Figure,
    view: tuple[float, float, str],
    lanes: Sequence[Sequence[Lane]],
    notes: Sequence[str],
    theme: str,
) -> None:
    first, last, words = view
    edge = 0.01 * (last - first)
    lines = sum(map(len, lanes)) + 2 * len(lanes)
    dressed(figure, "", theme=theme, height=lines * _LANE_HEIGHT + _LEGEND + 44, notes=notes)
    figure.update_xaxes(zeroline=False, range=[first - edge, last + edge], ticks="outside")
    figure.update_xaxes(title_text=words, row=len(lanes))
    for note in figure.layout.annotations[: len(lanes)]:
        note.update(x=0, xanchor="left", font={"size": 14})
    inner = lines * _LANE_HEIGHT
    legend = {"y": 1 + 34 / inner}  # above the first panel's title
    figure.update_layout(barmode="overlay", margin={"t": _LEGEND + 44}, title=None, legend=legend)
