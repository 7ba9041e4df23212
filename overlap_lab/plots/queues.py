"""How far the host leads the device: queued work, queue depth, launch latency."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import plotly.graph_objects as go

from overlap_lab.columns import Ints, gather
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.floor import launch_floor, measured_ops
from overlap_lab.metrics.places import names_of, relative_start_ns
from overlap_lab.metrics.queue import Queue
from overlap_lab.metrics.waits import REASONS
from overlap_lab.plots.envelope import Envelope, envelope, share_below
from overlap_lab.plots.palette import COLOURS, line_colour
from overlap_lab.plots.runs import context_of_run, device_word, title_of, untold
from overlap_lab.plots.theme import Scale, dressed, nothing, safe, scale_of, told
from overlap_lab.trace import Trace

__all__ = ["launch_latency", "queue_depth", "run_ahead"]

_MOST_WAITS: Final = 500


def run_ahead(trace: Trace, *, theme: str = "light") -> go.Figure:
    """Device time that was enqueued and not yet run, over time; where the host was blocked is shaded.

    Where the line touches zero the device had nothing to do.
    """
    return _over_time(
        trace,
        "queued work",
        lambda queue, time: queue.queued_work(time),
        lambda queue: np.unique(np.concatenate([queue.entered, queue.left, queue.start, queue.end])),
        theme=theme,
    )


def queue_depth(trace: Trace, *, theme: str = "light") -> go.Figure:
    """Entries in each device's queue over time; where the host was blocked is shaded."""
    return _over_time(
        trace,
        "queue depth",
        lambda queue, time: queue.depth(time),
        lambda queue: np.unique(np.concatenate([queue.entered, queue.left])),
        theme=theme,
    )


def _over_time(
    trace: Trace,
    what: str,
    value_at: Callable[[Queue, Ints], Ints],
    times_of: Callable[[Queue], Ints],
    *,
    theme: str,
) -> go.Figure:
    report, context = context_of_run(trace)
    title = f"{title_of(trace)}: {what}"
    missing = untold(report)
    if missing:
        return nothing(title, missing, theme=theme)
    zero = relative_start_ns(context)
    along = scale_of(int(trace.end_ns.max()) - zero)
    is_time = what == "queued work"
    lines = {}
    for device in context.devices:
        queue = context.queue(device)
        times = times_of(queue)
        lines[device] = envelope(times, value_at(queue, times))
    up = scale_of(max(int(line.value.max()) for line in lines.values())) if is_time else Scale("entries", 1)
    figure = go.Figure()
    notes = _shade_waits(context, zero, along, figure)
    for at, (device, line) in enumerate(lines.items()):
        figure.add_scatter(
            name=device_word(device),
            x=(line.time_ns - zero) / along.ns,
            y=line.value / up.ns,
            mode="lines",
            line={"color": line_colour(at, theme), "width": 1.5, "shape": "linear" if is_time else "hv"},
            hovertemplate=f"%{{y:,.3f}} {up.unit} at %{{x:,.6f}} {along.unit}<extra></extra>",
        )
        notes += [f"{device_word(device)}: {said}" for said in _left_out(context, device, line)]
    figure.update_xaxes(title_text=f"{along.unit} after the trace's first record")
    figure.update_yaxes(title_text=f"{what}, {up.unit}", rangemode="tozero")
    return dressed(figure, title, theme=theme, notes=notes)


def _left_out(context: Context, device: int, line: Envelope) -> Iterator[str]:
    lost = int(np.count_nonzero(gather(context.links.caller, context.devices[device].index) < 0))
    if lost:
        yield f"{lost:,} ops without a call count as queued from their own start on"
    if not line.is_whole:
        yield f"of {line.points:,} points the first, last, lowest and highest of each pixel are drawn"


def _shade_waits(context: Context, zero: int, scale: Scale, figure: go.Figure) -> list[str]:
    """Draw the costliest waits behind the lines; what was left out."""
    waits = context.waits
    if not waits.row.size:
        return []
    length = waits.end - waits.counted_from
    chosen = np.sort(np.argsort(-length, kind="stable")[:_MOST_WAITS])
    x: list[float | None] = []
    text: list[str | None] = []
    names = names_of(context.trace, waits.row[chosen])
    for at, name in zip(chosen.tolist(), names, strict=True):
        begin, end = int(waits.counted_from[at]) - zero, int(waits.end[at]) - zero
        said = f"{safe(name)} ({REASONS[int(waits.reason[at])]}), {told(end - begin)}"
        x += [begin / scale.ns, end / scale.ns, None]
        text += [said, said, None]
    figure.add_scatter(
        name="host blocked",
        x=x,
        y=[None if one is None else 0 for one in x],
        mode="lines+markers",
        line={"color": COLOURS["blocked"], "width": 8},
        marker={"color": COLOURS["blocked"], "size": 4},
        hovertext=text,
        hovertemplate="%{hovertext}<extra></extra>",
    )
    if chosen.size == length.size:
        return []
    rest = int(length.sum() - length[chosen].sum())
    drawn = f"the {chosen.size:,} longest of {length.size:,} waits are drawn"
    return [f"{drawn}; the others are {told(rest)} together"]


def launch_latency(trace: Trace, *, theme: str = "light") -> go.Figure:
    """How long after its enqueue call each op started, as a distribution, with the launch floor.

    At the floor an op started as soon as it could; far right of it, it waited in a queue, as it should.
    """
    report, context = context_of_run(trace)
    title = f"{title_of(trace)}: from the enqueue call to the start of the op"
    figure, notes, drawn = go.Figure(), [], False
    for at, device in enumerate(context.devices):
        op = measured_ops(context, device, None)
        if not op.size:
            continue
        drawn = True
        lead = gather(context.ops.start, op) - gather(context.ops.enqueue, op)
        values, share = share_below(np.maximum(lead, 1))
        word = device_word(device)
        figure.add_scatter(
            name=f"{word}, {op.size:,} ops",
            x=values / 1_000,
            y=share,
            mode="lines",
            line={"color": line_colour(at, theme), "shape": "hv"},
            hovertemplate="%{y:.1%} of ops started within %{x:,.3f} us<extra></extra>",
        )
        floor = launch_floor(context, device, None)
        if floor is not None:
            figure.add_scatter(
                name=f"launch floor, {told(floor)}",
                x=[max(floor, 1) / 1_000] * 2,
                y=[0, 1],
                mode="lines",
                line={"color": line_colour(at, theme), "dash": "dot"},
                hoverinfo="name",
            )
        left = context.devices[device].index.size - op.size
        if left:
            notes.append(f"{word}: {left:,} ops without a call, or that start before it, are not drawn")
    if not drawn:
        why = untold(report) or "no op is linked to an enqueue call"
        return nothing(title, why, theme=theme)
    figure.update_xaxes(type="log", title_text="us from the enqueue call to the op's start")
    figure.update_yaxes(title_text="share of ops", tickformat=".0%", range=[0, 1.02])
    return dressed(figure, title, theme=theme, notes=notes)
