"""Which call made which op, and which op a wait returned with, as lines between lanes. No plotly here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overlap_lab.columns import distinct
from overlap_lab.export.found import arrows_of as waits_and_ops
from overlap_lab.metrics.context import Context
from overlap_lab.plots.lanes import Lane, host_lanes, origin_ns, stream_word
from overlap_lab.trace import Trace

__all__ = ["Arrow", "arrows_of"]


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a time on one lane to a time on another; lanes are places among those that are drawn."""

    begin_ns: int
    begin_lane: int
    end_ns: int
    end_lane: int


def arrows_of(
    trace: Trace, context: Context, lanes: Sequence[Lane], *, most: int, offset_ns: int = 0
) -> list[Arrow]:
    """At most so many arrows between drawn lanes: of the longest waits first, then of ops in order."""
    place = {lane.label: at for at, lane in enumerate(lanes)}
    lane_of = _lanes_of_rows(trace, place)
    shift = offset_ns - origin_ns(trace)
    found = [*_of_waits(context, lane_of, shift)[:most]]
    found += _of_ops(context, lane_of, shift, most - len(found))
    return found


def _lanes_of_rows(trace: Trace, place: dict[str, int]) -> dict[tuple[bool, int, int], int]:
    """Lane by (on a device, process or device, thread or stream), for the lanes that are drawn."""
    found: dict[tuple[bool, int, int], int] = {}
    calls = np.flatnonzero(trace.is_host_call)
    pairs = np.unique(np.stack([trace.process[calls].astype(np.int64), trace.thread[calls]]), axis=1)
    for (process, thread), lane in zip(pairs.T.tolist(), host_lanes(trace), strict=True):
        if lane.label in place:
            found[False, process, thread] = place[lane.label]
    ops = np.flatnonzero(trace.is_device)
    first = ops[distinct(trace.device[ops], trace.stream[ops])]
    for device, stream in zip(trace.device[first].tolist(), trace.stream[first].tolist(), strict=True):
        label = stream_word(device, stream)
        if label in place:
            found[True, device, stream] = place[label]
    return found


def _of_waits(context: Context, lane_of: dict[tuple[bool, int, int], int], shift: int) -> list[Arrow]:
    trace, arrows = context.trace, waits_and_ops(context)
    longest = np.argsort(trace.start_ns[arrows.wait] - trace.end_ns[arrows.wait], kind="stable")
    found = []
    for at in longest.tolist():
        op, row = int(arrows.op[at]), int(arrows.wait[at])
        lanes = _both(trace, lane_of, op, row)
        if lanes:
            ends = int(trace.end_ns[op]) + shift, int(trace.end_ns[row]) + shift
            found.append(Arrow(ends[0], lanes[0], ends[1], lanes[1]))
    return found


def _of_ops(
    context: Context, lane_of: dict[tuple[bool, int, int], int], shift: int, most: int
) -> list[Arrow]:
    links, trace = context.links, context.trace
    found: list[Arrow] = []
    for at in np.flatnonzero(links.linked)[: max(most, 0)].tolist():
        op, call = int(links.op[at]), int(links.host[links.caller[at]])
        lanes = _both(trace, lane_of, op, call)
        if lanes:
            found.append(
                Arrow(int(trace.start_ns[call]) + shift, lanes[1], int(trace.start_ns[op]) + shift, lanes[0])
            )
    return found


def _both(
    trace: Trace, lane_of: dict[tuple[bool, int, int], int], op: int, call: int
) -> tuple[int, int] | None:
    """The lanes of an op and of a call, where both are drawn."""
    on_device = lane_of.get((True, int(trace.device[op]), int(trace.stream[op])))
    on_host = lane_of.get((False, int(trace.process[call]), int(trace.thread[call])))
    return None if on_device is None or on_host is None else (on_device, on_host)
