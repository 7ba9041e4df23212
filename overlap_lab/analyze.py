"""Trace -> Report: the only file that knows all measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from overlap_lab.columns import gather
from overlap_lab.errors import UsageError
from overlap_lab.link import Link, link
from overlap_lab.metrics.blocking import host_blocking
from overlap_lab.metrics.catalog import COLLECTIVE_TAGS, DEVICE_TAGS, STREAM_TAGS, measurement
from overlap_lab.metrics.clock import Shift, allowed_shifts, undecided_gaps
from overlap_lab.metrics.collective_findings import collectives_table
from overlap_lab.metrics.collective_paces import collective_measures
from overlap_lab.metrics.collectives import NO_COLLECTIVES
from overlap_lab.metrics.context import Context, context_of
from overlap_lab.metrics.drains import device_drains, stream_drains
from overlap_lab.metrics.findings import findings_of
from overlap_lab.metrics.idle import device_idle
from overlap_lab.metrics.overlap import overlap
from overlap_lab.metrics.provenance import source_of
from overlap_lab.metrics.run_ahead import queue_peaks, run_ahead
from overlap_lab.metrics.steps import steps_table
from overlap_lab.metrics.tables import tables_of
from overlap_lab.progress import waiting_for
from overlap_lab.quality import (
    Overruns,
    Quality,
    negative_rows_closed,
    overlong_ops_clipped,
    overruns,
    quality,
)
from overlap_lab.report import Measurement, Report
from overlap_lab.schema import ABSENT_DEVICE, EARLIEST_NS, LATEST_NS, Cause
from overlap_lab.trace import Trace

__all__ = ["analyze", "measurements_of", "report_and_context"]

_DEVICE_METRICS = (device_idle, device_drains, overlap, run_ahead, queue_peaks)
_ONE_CLOCK = (
    "device/busy",
    "device/window",
    "device/gaps",
    "host/polling",
    "collectives/count",
    "collectives/exposed",
    "collectives/time",
    "quality/",
)
"""Measures of the host alone or of a device alone: no clock shift changes them."""
_OF_SEVERAL_CLOCKS = "collectives/"
"""What the clock of any device changes, also of the others."""
_NEEDS_FEEDING = ("drain/", "overlap/", "host/", "run_ahead", "launch/")
_NEEDS_HOST = (*_NEEDS_FEEDING, *(f"device/idle/{cause}" for cause in Cause))


def analyze(trace: Trace, *, window: tuple[int, int] | None = None, steps: bool = False) -> Report:
    """Every measure of a trace, with the tables and findings that explain them.

    `window` is a pair of absolute times in the trace's own clock; it clips host and device records at its
    edges, while waits and drains are decided on the whole trace. `steps` adds the table of the same name.
    """
    return report_and_context(trace, window=window, steps=steps)[0]


def report_and_context(
    trace: Trace, *, window: tuple[int, int] | None = None, steps: bool = False
) -> tuple[Report, Context]:
    """What `analyze` returns, and what it was measured in, for more windows of the same trace."""
    if window is not None and window[1] <= window[0]:
        raise UsageError(
            f"analyze: the window {window[0]}:{window[1]} is empty; its end must come after its start"
        )
    if window is not None and not EARLIEST_NS <= window[0] < window[1] <= LATEST_NS:
        raise UsageError(f"analyze: the window {window[0]}:{window[1]} is no time of any trace")
    with waiting_for(f"analyzing {len(trace):,} rows"):
        return _measured(trace, window, steps=steps)


def _measured(trace: Trace, window: tuple[int, int] | None, *, steps: bool) -> tuple[Report, Context]:
    closed = negative_rows_closed(trace)
    links = link(closed)
    runs = overruns(links, links.end)
    repaired = overlong_ops_clipped(closed, links, runs)
    faults = quality(trace, repaired, links, runs if closed is trace else _recorded_runs(trace, links))
    del closed, runs
    context = context_of(repaired, links).within(window)
    shifts = allowed_shifts(context)
    measurements = measurements_of(context)
    if shifts:
        edges = _shifted(context, shifts)
        context = context.undecided_at(undecided_gaps(*edges, shifts))
        measurements = _with_bounds(measurements_of(context), edges, shifts)
    tables = {**tables_of(context, faults), "collectives": collectives_table(context)}
    if steps:
        tables = {**tables, "steps": steps_table(context)}
    source = source_of(context, faults, shifts)
    findings = findings_of(context, faults, tables, shifts)
    return Report(source, (*measurements, *_of_quality(faults)), tables, findings), context


def _recorded_runs(trace: Trace, links: Link) -> Overruns:
    return overruns(links, gather(trace.end_ns, links.op))


def measurements_of(context: Context) -> tuple[Measurement, ...]:
    """Every measurement of a prepared trace but those of its quality."""
    return (
        *host_blocking(context),
        *_of_devices(context),
        *_of_collectives(context),
        *_of_streams(context),
    )


def _shifted(context: Context, shifts: Mapping[int, Shift]) -> tuple[Context, Context]:
    """The trace with its device clocks at both ends of their allowed intervals."""
    lows = {device: shift.low for device, shift in shifts.items()}
    highs = {device: max(shift.low, shift.high or shift.low) for device, shift in shifts.items()}
    low, high = (context_of(context.trace, context.links, shift=shift) for shift in (lows, highs))
    return low.within(context.window), high.within(context.window)


def _with_bounds(
    measurements: tuple[Measurement, ...], edges: tuple[Context, Context], shifts: Mapping[int, Shift]
) -> tuple[Measurement, ...]:
    """Clock-crossing measurements with the smaller and the larger of their values at both clock shifts."""
    bounds = zip(*(measurements_of(edge) for edge in edges), strict=True)
    result = []
    for measured, (one, other) in zip(measurements, bounds, strict=True):
        touched = measured.scope.get("device", next(iter(shifts))) in shifts
        touched |= measured.tag.startswith(_OF_SEVERAL_CLOCKS)
        if touched and not _one_clock(measured.tag) and None not in (one.value, other.value):
            values = sorted(value for value in (one.value, other.value) if value is not None)
            result.append(replace(measured, low=values[0], high=values[-1]))
        else:
            result.append(measured)
    return tuple(result)


def _one_clock(tag: str) -> bool:
    return tag == "device/idle" or tag.startswith(_ONE_CLOCK)


def _of_devices(context: Context) -> Iterator[Measurement]:
    if not context.devices:
        for tag in DEVICE_TAGS:
            yield measurement(tag, {}, None, "the trace has no device records")
    for device in context.devices:
        values = _device_values(context, device)
        for scope in _scopes(context, device):
            for tag in DEVICE_TAGS:
                value, why = _null_reason(context, tag, values[tag])
                yield measurement(tag, scope, value, why)


def _device_values(context: Context, device: int) -> dict[str, int | float | None]:
    values: dict[str, int | float | None] = {}
    for metric in _DEVICE_METRICS:
        values |= metric(context, device)
    return values


def _null_reason(
    context: Context, tag: str, value: int | float | None
) -> tuple[int | float | None, str | None]:
    if context.links.host.size == 0 and tag.startswith(_NEEDS_HOST):
        return None, "the trace has no host records"
    if value is not None:
        return value, None
    if tag == "launch/floor":
        return None, "no operation was launched onto an empty stream"
    if tag.startswith("overlap/"):
        return None, "not applicable: no device operation in the window"
    return None, "no linked operation starts in the window"


def _of_collectives(context: Context) -> Iterator[Measurement]:
    by_device = collective_measures(context)
    if not by_device:
        why = NO_COLLECTIVES if context.devices else "the trace has no device records"
        for tag in COLLECTIVE_TAGS:
            yield measurement(tag, {}, None, why)
    for device, values in by_device.items():
        for scope in _scopes(context, device):
            for tag in COLLECTIVE_TAGS:
                value, why = values[tag]
                yield measurement(tag, scope, value, why if value is None else None)


def _scopes(context: Context, device: int) -> list[Mapping[str, int]]:
    """What the measures of a device are for: the device, and with exactly one also the whole."""
    scopes: list[Mapping[str, int]] = [] if device == ABSENT_DEVICE else [{"device": device}]
    return [*scopes, {}] if len(context.devices) == 1 else scopes


def _of_streams(context: Context) -> Iterator[Measurement]:
    if not context.stream_drains:
        reason = (
            "no device operation names its stream" if context.devices else "the trace has no device records"
        )
        for tag in STREAM_TAGS:
            yield measurement(tag, {}, None, reason)
    for (device, stream), lanes in context.stream_drains.items():
        values = stream_drains(context, lanes)
        for tag in STREAM_TAGS:
            value, why = _null_reason(context, tag.removeprefix("stream/"), values[tag])
            scope = {"stream": stream} if device == ABSENT_DEVICE else {"device": device, "stream": stream}
            yield measurement(tag, scope, value, why)


def _of_quality(faults: Quality) -> Iterator[Measurement]:
    for fault, count in faults.count.items():
        yield measurement(f"quality/{fault}", {}, count)
