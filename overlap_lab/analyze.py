"""Trace -> Report: the only file that knows all measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from overlap_lab.link import link
from overlap_lab.metrics.blocking import host_blocking
from overlap_lab.metrics.catalog import DEVICE_TAGS, STREAM_TAGS, measurement
from overlap_lab.metrics.context import Context, context_of
from overlap_lab.metrics.drains import device_drains, stream_drains
from overlap_lab.metrics.findings import findings_of
from overlap_lab.metrics.idle import device_idle
from overlap_lab.metrics.overlap import overlap
from overlap_lab.metrics.provenance import source_of
from overlap_lab.metrics.run_ahead import queue_peaks, run_ahead
from overlap_lab.metrics.steps import steps_table
from overlap_lab.metrics.tables import tables_of
from overlap_lab.quality import Quality, negative_rows_closed, overlong_ops_clipped, quality
from overlap_lab.report import Measurement, Report
from overlap_lab.schema import ABSENT_DEVICE, Cause
from overlap_lab.trace import Trace

__all__ = ["analyze"]

_DEVICE_METRICS = (device_idle, device_drains, overlap, run_ahead, queue_peaks)
_NEEDS_FEEDING = ("drain/", "overlap/", "host/", "run_ahead", "launch/")
_NEEDS_HOST = (*_NEEDS_FEEDING, *(f"device/idle/{cause}" for cause in Cause))


def analyze(trace: Trace, *, window: tuple[int, int] | None = None, steps: bool = False) -> Report:
    """Every measure of a trace, with the tables and findings that explain them.

    `window` is a pair of absolute times in the trace's own clock; it clips host and device records at its
    edges, while waits and drains are decided on the whole trace. `steps` adds the table of the same name.
    """
    closed = negative_rows_closed(trace)
    links = link(closed)
    repaired = overlong_ops_clipped(closed, links)
    faults = quality(trace, repaired, links)
    context = context_of(repaired, links).within(window)
    measurements = (
        *host_blocking(context),
        *_of_devices(context),
        *_of_streams(context),
        *_of_quality(faults),
    )
    tables = tables_of(context, faults)
    if steps:
        tables = {**tables, "steps": steps_table(context)}
    findings = findings_of(context, faults, tables)
    return Report(source_of(context, faults), measurements, tables, findings)


def _of_devices(context: Context) -> Iterator[Measurement]:
    if not context.devices:
        for tag in DEVICE_TAGS:
            yield measurement(tag, {}, None, "the trace has no device records")
    for device in context.devices:
        values = _device_values(context, device)
        scopes: list[Mapping[str, int]] = [] if device == ABSENT_DEVICE else [{"device": device}]
        for scope in [*scopes, {}] if len(context.devices) == 1 else scopes:
            for tag in DEVICE_TAGS:
                value, why = _null_reason(context, device, tag, values[tag])
                yield measurement(tag, scope, value, why)


def _device_values(context: Context, device: int) -> dict[str, int | float | None]:
    values: dict[str, int | float | None] = {}
    for metric in _DEVICE_METRICS:
        values |= metric(context, device)
    return values


def _null_reason(
    context: Context, device: int, tag: str, value: int | float | None
) -> tuple[int | float | None, str | None]:
    if not context.trace.is_host_call.any() and tag.startswith(_NEEDS_HOST):
        return None, "the trace has no host records"
    if not context.is_fed(device) and tag.startswith(_NEEDS_FEEDING):
        return None, "no enqueue call in the trace is linked to an operation of this device"
    if value is not None:
        return value, None
    if tag == "launch/floor":
        return None, "no operation was launched onto an empty stream"
    if tag.startswith("overlap/"):
        return None, "not applicable: no device operation in the window"
    return None, "no linked operation starts in the window"


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
            value, why = _null_reason(context, device, tag.removeprefix("stream/"), values[tag])
            yield measurement(tag, {"device": device, "stream": stream}, value, why)


def _of_quality(faults: Quality) -> Iterator[Measurement]:
    for fault, count in faults.count.items():
        yield measurement(f"quality/{fault}", {}, count)
