"""A drawn trace -> the lines of its picture: what was recorded, and below it what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from overlap_lab.analyze import report_and_context
from overlap_lab.export.found import found_in
from overlap_lab.intervals import subtract
from overlap_lab.metrics.collectives import collectives_of
from overlap_lab.metrics.context import Context
from overlap_lab.plots.lanes import (
    Lane,
    annotation_lanes,
    blocked_lanes,
    device_lanes,
    devices_in,
    host_lanes,
    idle_lanes,
    origin_ns,
)
from overlap_lab.plots.palette import COLOURS, PART_COLOURS
from overlap_lab.render.numbers import records
from overlap_lab.report import Report
from overlap_lab.trace import Trace

__all__ = ["Bar", "Line", "exact", "measured_lines", "recorded_lines"]

_PLAIN: Final = "#C9D3DF"
_OVERLAPPED: Final = "#009E73"
_SHORT: Final = {
    "copy HtoD": "copy",
    "hipDeviceSynchronize": "sync",
    "hipFree": "free",
    "hipLaunchHostFunc": "host",
    "hipLaunchKernel": "launch",
    "hipMemcpyAsync": "copy",
    "hipStreamQuery": "query",
    "hipStreamSynchronize": "sync",
    "ncclDevKernel_AllReduce": "nccl",
}
"""What stands on a bar that is too narrow for the whole name."""
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th")


@dataclass(frozen=True, slots=True)
class Bar:
    """What lies on a line from one time to another; the first of its words that fits is written on it."""

    start_ns: int
    end_ns: int
    colour: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    bars: tuple[Bar, ...]


def exact(value_ns: int) -> str:
    """The whole time, nothing rounded away: of a drawing it is a few microseconds."""
    return f"{value_ns / 1000:g} us"


def recorded_lines(trace: Trace) -> list[Line]:
    """Ranges, host calls and device ops, as the drawing has them."""
    lanes = [*annotation_lanes(trace), *host_lanes(trace)]
    for device in devices_in(trace):
        lanes += device_lanes(trace, device)
    return [Line(lane.label, tuple(_recorded(lane))) for lane in lanes]


def measured_lines(trace: Trace, tags: Sequence[str]) -> list[Line]:
    """What was found of the families of measures that are asked for."""
    report, context = report_and_context(trace)
    lines: list[Line] = []
    if any(tag.startswith(("host/blocked", "overlap")) for tag in tags):
        lines += [Line(lane.label, tuple(_timed(lane))) for lane in blocked_lanes(report)]
    if any(tag.startswith("overlap") for tag in tags):
        lines += _overlapped(trace, context)
    if any(tag.startswith("drain/idle") for tag in tags):
        lines += _parts(report)
    if any(tag.startswith("stream/drain") for tag in tags):
        lines += _stream_drains(trace, context)
    if any(tag.startswith("device/idle") for tag in tags):
        lines += [
            Line(lane.label, tuple(_timed(lane)))
            for device in devices_in(trace)
            for lane in idle_lanes(report).get(device, [])
        ]
    if any(tag.startswith("collectives/") for tag in tags):
        lines += _peer_waits(trace, context)
    if any(tag.startswith("run_ahead") for tag in tags):
        lines += _run_ahead(trace, context)
    if any(tag.startswith("queue/") for tag in tags):
        lines += _depth(trace)
    return lines


def _recorded(lane: Lane) -> Iterator[Bar]:
    for entry, spans in lane.parts:
        for start, end, name in zip(spans.start_ns.tolist(), spans.end_ns.tolist(), spans.names, strict=True):
            short = _SHORT.get(name, name)  # its first letter is the drawing's
            words = (name, name.removeprefix("hip"), short, short[0].upper())
            yield Bar(start, end, COLOURS[entry], words)


def _timed(lane: Lane) -> Iterator[Bar]:
    for entry, spans in lane.parts:
        word = entry.removeprefix("idle: ")
        for start, end in zip(spans.start_ns.tolist(), spans.end_ns.tolist(), strict=True):
            yield Bar(start, end, COLOURS[entry], _words(word, end - start))


def _words(word: str, duration_ns: int) -> tuple[str, ...]:
    time = exact(duration_ns)
    return f"{word} {time}", f"{word}", time, time.removesuffix(" us")


def _overlapped(trace: Trace, context: Context) -> Iterator[Line]:
    zero = origin_ns(trace)
    for device in devices_in(trace):
        start, end = subtract(context.busy(device), context.blocked(device, terminal=False))
        bars = [
            Bar(first - zero, last - zero, _OVERLAPPED, _words("overlapped", last - first))
            for first, last in zip(start.tolist(), end.tolist(), strict=True)
        ]
        yield Line("busy while no feeding thread was blocked", tuple(bars))


def _parts(report: Report) -> Iterator[Line]:
    bars = []
    for drain in records(report.tables.get("drains")):
        at = int(drain["start"] or 0)
        for part in ("return", "refill", "launch"):
            cost = int(drain[part] or 0)
            if cost:
                bars.append(Bar(at, at + cost, PART_COLOURS[part], _words(part, cost)))
            at += cost
    if bars:
        yield Line("the drain's parts", tuple(bars))


def _stream_drains(trace: Trace, context: Context) -> Iterator[Line]:
    zero = origin_ns(trace)
    for (_, stream), of_processes in context.stream_drains.items():
        bars = [
            Bar(start - zero, end - zero, COLOURS["idle: drain"], _words("drain", end - start))
            for drains in of_processes
            for start, end in zip(drains.start.tolist(), drains.end.tolist(), strict=True)
        ]
        if bars:
            yield Line(f"stream {stream} drained", tuple(bars))


def _peer_waits(trace: Trace, context: Context) -> Iterator[Line]:
    zero, found = origin_ns(trace), collectives_of(context)
    if found is None:
        return
    for device, mine in found.of_device.positions.items():
        spans = zip(found.wait_start[mine].tolist(), found.wait_end[mine].tolist(), strict=True)
        bars = [
            Bar(start - zero, end - zero, PART_COLOURS["return"], _words("waits", end - start))
            for start, end in spans
            if end > start
        ]
        if bars:
            yield Line(f"device {device} waited in collectives", tuple(bars))


def _run_ahead(trace: Trace, context: Context) -> Iterator[Line]:
    """A line an op: the runs-ahead of neighbours overlap."""
    zero, links = origin_ns(trace), context.links
    for number, (op, caller) in enumerate(zip(links.op.tolist(), links.caller.tolist(), strict=True)):
        call = int(trace.start_ns[links.host[caller]]) - zero
        start = int(trace.start_ns[op]) - zero
        if start >= call:
            bar = Bar(call, start, _PLAIN, _words("run-ahead", start - call))
            yield Line(f"run-ahead of the {_ORDINALS[number]} op", (bar,))


def _depth(trace: Trace) -> Iterator[Line]:
    zero = origin_ns(trace)
    for counter in found_in(trace).counters:
        if not counter.track.endswith("queue depth"):
            continue
        times, values = (counter.time_ns - zero).tolist(), counter.value.tolist()
        steps = zip(times, times[1:], values, strict=False)
        bars = [Bar(start, end, _PLAIN, (str(value),)) for start, end, value in steps if value]
        yield Line("queue depth", tuple(bars))
