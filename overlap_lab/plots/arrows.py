"""Which call made which op, and which op a wait returned with, as lines between lanes. No plotly here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overlap_lab.analyze import report_and_context
from overlap_lab.errors import UsageError
from overlap_lab.metrics.context import Context
from overlap_lab.plots.lanes import Lane, device_lanes, devices_in, host_lanes, origin_ns
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = ["Arrow", "arrows_of", "first_named_ns"]


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a time on one lane to a time on another; lanes are places among those that are drawn."""

    begin_ns: int
    begin_lane: int
    end_ns: int
    end_lane: int


def first_named_ns(trace: Trace, name: str) -> int:
    """When the first host row of a name starts, after the first record. UsageError where there is none."""
    codes = [code for code, text in enumerate(trace.names) if text == name]
    host = np.isin(trace.kind, (Kind.RANGE, Kind.CPU_OP, Kind.API, Kind.PYTHON))
    rows = np.flatnonzero(np.isin(trace.name, codes) & host)
    if not rows.size:
        files = ", ".join(trace.source.files) or "the trace"
        raise UsageError(f"timeline: {files} has no range, framework op or call named {name!r}")
    return int(trace.start_ns[rows[0]]) - origin_ns(trace)


def arrows_of(trace: Trace, lanes: Sequence[Lane], *, most: int, offset_ns: int = 0) -> list[Arrow]:
    """At most so many arrows between drawn lanes: of the longest waits first, then of ops in order."""
    _, context = report_and_context(trace)
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
    for device in devices_in(trace):
        ops = trace.is_device & (trace.device == device)
        streams = np.unique(trace.stream[ops]).tolist()
        for stream, lane in zip(streams, device_lanes(trace, device), strict=True):
            if lane.label in place:
                found[True, device, stream] = place[lane.label]
    return found


def _of_waits(context: Context, lane_of: dict[tuple[bool, int, int], int], shift: int) -> list[Arrow]:
    waits, links, ops, trace = context.waits, context.links, context.ops, context.trace
    by_end = np.argsort(ops.end, kind="stable")
    at = np.searchsorted(ops.end[by_end], waits.bound_end)
    there = at < by_end.size
    there[there] = ops.end[by_end[at[there]]] == waits.bound_end[there]
    longest = np.argsort(waits.counted_from - waits.end, kind="stable")
    found = []
    for wait in longest[there[longest]].tolist():
        op, row = int(links.op[by_end[at[wait]]]), int(waits.row[wait])
        lanes = _both(trace, lane_of, op, row)
        if lanes:
            found.append(
                Arrow(int(trace.end_ns[op]) + shift, lanes[0], int(waits.end[wait]) + shift, lanes[1])
            )
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
