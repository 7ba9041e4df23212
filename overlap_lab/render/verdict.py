"""The first lines of every report: what blocks, how often, what it costs, where; then each device's idle."""

from __future__ import annotations

from overlap_lab.render.lines import Line, Style
from overlap_lab.render.names import printable
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.summary import device_name, idle_causes
from overlap_lab.render.values import percent
from overlap_lab.report import Report, Scope, Severity
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["device_lines", "verdict", "verdict_style"]

_MOST_DEVICES = 4


def verdict(report: Report) -> list[Line]:
    """The report's own verdict, and what the devices' idle time is made of."""
    return [_said(report), *device_lines(report)]


def verdict_style(report: Report) -> Style:
    """Good where nothing blocks, bad where something does, a warning where a side of the trace is missing."""
    numbers = Numbers(report)
    if numbers.count("quality/no_host_records", {}) or numbers.count("quality/no_device_records", {}):
        return Style.WARNING
    found = next((one for one in report.findings if one.rule == "verdict"), None)
    return Style.GOOD if found is None or found.severity is Severity.INFO else Style.BAD


def device_lines(report: Report) -> list[Line]:
    """One line for each of the first devices: idle, its share of the window, its causes, the overlap."""
    numbers = Numbers(report)
    devices = numbers.devices()
    lines = [Line(_device_sentence(report, numbers, device)) for device in devices[:_MOST_DEVICES]]
    hidden = len(devices) - len(lines)
    return [*lines, Line(f"... and {hidden:,} more devices in the table")] if hidden else lines


def _said(report: Report) -> Line:
    return Line(printable(report.verdict), verdict_style(report))


def _device_sentence(report: Report, numbers: Numbers, device: Scope) -> str:
    name = device_name(report, device.get("device"))
    idle, window = numbers.count("device/idle", device), numbers.count("device/window", device)
    causes = idle_causes(numbers, device)
    mostly = ": " + ", ".join(
        f"{cause.value.replace('_', ' ')} {format_ns(ns)}{_parts(numbers, device, cause)}"
        for cause, ns in causes
    )
    ratio = numbers.value("overlap/ratio", device)
    overlap = "" if ratio is None else f"; overlap {ratio:.3f}"
    share = f"{percent(idle, window)} of its {format_ns(window)} window"
    waited = numbers.count("collectives/waited/exposed", device)
    peers = f"; busy, but waiting in collectives {format_ns(waited)}" if waited else ""
    return f"{name} idle {format_ns(idle)}, {share}{mostly if causes else ''}{peers}{overlap}"


def _parts(numbers: Numbers, device: Scope, cause: Cause) -> str:
    """Of the idle time after drains: what the waits themselves cost, and what the host did after them."""
    parts = [numbers.value(f"drain/idle/{part}", device) for part in ("return", "refill", "launch")]
    if cause is not Cause.DRAIN or not any(parts):
        return ""
    returned, refill, launch = (format_ns(int(part or 0)) for part in parts)
    return f" (return {returned}, refill by the host {refill}, launch {launch})"
