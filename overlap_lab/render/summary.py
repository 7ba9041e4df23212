"""The short tables that people read first, made from a report's measurements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from overlap_lab.render.names import printable
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.values import percent
from overlap_lab.report import Cell, Column, Report, Table
from overlap_lab.schema import Cause, Reason
from overlap_lab.units import format_ns

__all__ = [
    "device_name",
    "device_table",
    "host_table",
    "idle_causes",
    "quality_table",
    "run_ahead_table",
    "window_words",
]

_QUANTILES = ("min", "p10", "median", "p90", "max")


def device_name(report: Report, device: int | None) -> str:
    """ "device 0", with its name where the file gives one; "device" where it gives no number."""
    if device is None:
        return "device"
    devices = report.source.get("devices")
    name = devices.get(str(device), "") if isinstance(devices, Mapping) else ""
    return f"device {device} {printable(str(name))}".rstrip()


def window_words(report: Report) -> str:
    """Which window the device's shares divide by, in words."""
    window, zero = report.source.get("window"), report.source.get("trace_start_ns")
    if not isinstance(window, (list, tuple)):
        return "from each device's first op to its last"
    start, end = (format_ns(int(edge) - (zero if isinstance(zero, int) else 0)) for edge in window)
    return f"{start} to {end}, as given"


def idle_causes(numbers: Numbers, scope: Mapping[str, int]) -> list[tuple[Cause, int]]:
    """The causes of a device's idle time that are not zero, the largest first."""
    causes = [(cause, numbers.count(f"device/idle/{cause}", scope)) for cause in Cause]
    return sorted(((cause, ns) for cause, ns in causes if ns), key=lambda pair: -pair[1])


def device_table(report: Report) -> Table:
    """Busy, idle by cause and overlap of each device, with the window that the shares divide by."""
    numbers = Numbers(report)
    devices = numbers.devices()
    seen = [cause for cause in Cause if any(numbers.count(f"device/idle/{cause}", d) for d in devices)]
    columns: list[tuple[str, str, str]] = [
        ("window", "ns", "device/window"),
        ("busy", "ns", "device/busy"),
        ("idle", "ns", "device/idle"),
        *(
            (f"{'+' if at else '='} {cause.value.replace('_', ' ')}", "ns", f"device/idle/{cause}")
            for at, cause in enumerate(seen)
        ),
        ("drains", "count", "drain/count"),
        ("overlap", "ratio", "overlap/ratio"),
        ("with final wait", "ratio", "overlap/ratio_literal"),
    ]
    rows = [
        (_device_label(device), *(numbers.value(tag, device) for _, _, tag in columns)) for device in devices
    ]
    heads = [Column("device", "text"), *(Column(name, unit) for name, unit, _ in columns)]
    return Table(tuple(heads), tuple(rows), f"Devices, window {window_words(report)}")


def host_table(report: Report) -> Table:
    """Blocked time of each host thread that was blocked, split the two ways that each sum to it."""
    numbers = Numbers(report)
    tags = (
        "blocked",
        "blocked/explicit",
        "blocked/implicit",
        "blocked/device_bound",
        "blocked/return_latency",
    )
    blocked = [scope for scope in numbers.threads() if numbers.count("host/blocked", scope)]
    blocked.sort(key=lambda scope: -numbers.count("host/blocked", scope))
    several = len({scope["process"] for scope in blocked}) > 1
    rows = [
        (
            _thread_name(scope, several),
            *(numbers.value(f"host/{tag}", scope) for tag in tags),
            _reasons(numbers, scope),
        )
        for scope in blocked
    ]
    heads = [tag.rpartition("/")[2].replace("_", " ") for tag in tags]
    columns = (
        Column("thread", "text"),
        *(Column(head, "ns") for head in heads),
        Column("by reason, of blocked", "text"),
    )
    return Table(columns, tuple(rows), "Host blocked")


def run_ahead_table(report: Report) -> Table:
    """How far the host led each device, as quantiles over its linked ops."""
    numbers = Numbers(report)
    rows: list[tuple[Cell, ...]] = []
    for device in numbers.devices():
        values = [numbers.value(f"run_ahead/{quantile}", device) for quantile in _QUANTILES]
        if any(value is not None for value in values):
            more = [
                numbers.value(tag, device) for tag in ("launch/floor", "queue/depth_max", "queue/work_max")
            ]
            rows.append((_device_label(device), *values, *more))
    columns = (
        Column("device", "text"),
        *(Column(quantile, "ns") for quantile in _QUANTILES),
        Column("launch floor", "ns"),
        Column("deepest queue", "count"),
        Column("most queued work", "ns"),
    )
    return Table(columns, tuple(rows), "Run-ahead: launch call to device start")


def quality_table(report: Report) -> Table:
    """The faults of the trace that are not zero; the full list stands in the JSON."""
    found = [
        (measurement.title or measurement.tag, measurement.value)
        for measurement in report.measurements
        if measurement.tag.startswith("quality/") and not measurement.scope and measurement.value
    ]
    columns = (Column("fault", "text"), Column("count", "count"))
    whole = ", of the whole trace" if report.source.get("window") else ""
    return Table(columns, tuple(found), f"Trace quality{whole}")


def _device_label(scope: Mapping[str, int]) -> str:
    return " ".join(f"{key} {number}" for key, number in scope.items()) or "device"


def _thread_name(scope: Mapping[str, int], several: bool) -> str:
    return f"{scope['thread']} of process {scope['process']}" if several else str(scope["thread"])


def _reasons(numbers: Numbers, scope: Mapping[str, int]) -> str:
    """The reasons of the blocked time, the largest first, with their share of it."""
    whole = numbers.count("host/blocked", scope)
    parts: Iterable[tuple[str, int]] = (
        (reason.value.replace("_", " "), numbers.count(f"host/blocked/{reason}", scope)) for reason in Reason
    )
    ordered = sorted(((name, ns) for name, ns in parts if ns), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {percent(ns, whole)}" for name, ns in ordered)
