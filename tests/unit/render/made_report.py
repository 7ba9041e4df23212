"""A report made by hand: one layer, one device, one thread, and waits that drain."""

from __future__ import annotations

from collections.abc import Mapping

from overlap_lab.report import Better, Column, Finding, Measurement, Report, Severity, Table
from overlap_lab.schema import Cause, Fault, Reason

US = 1_000
QUANTILES = ("min", "p10", "median", "p90", "max")
DEVICE = {"device": 0}
THREAD = {"process": 1, "thread": 7}


def made_report(
    *,
    busy_us: int = 400,
    idle_us: Mapping[Cause, int] | None = None,
    drains: int = 2,
    name: str = "hipMemcpy",
    vendor: str = "amd",
) -> Report:
    """Device 0 and thread 7 of process 1, blocked for 300 us; window = busy + idle."""
    idle = {Cause.DRAIN: 80, Cause.HOST_LATE: 20} if idle_us is None else idle_us
    measurements = [
        *(_time(tag, us, scope) for tag, us in HOST_US.items() for scope in ({}, {"process": 1}, THREAD)),
        *(_time(tag, us, scope) for tag, us in _device_us(busy_us, idle).items() for scope in ({}, DEVICE)),
        *(_count("drain/count", drains, scope) for scope in ({}, DEVICE)),
        *(_count("drain/terminal", 1, scope) for scope in ({}, DEVICE)),
        *(_ratio("overlap/ratio", 0.75, scope) for scope in ({}, DEVICE)),
        *(_ratio("overlap/ratio_literal", 0.25, scope) for scope in ({}, DEVICE)),
        *(_count(f"quality/{fault}", int(fault is Fault.UNLINKED_OPS), {}) for fault in Fault),
        Measurement("host/unknown_wait", {}, None, "ns", "Unknown", Better.LOWER, reason="no such calls"),
    ]
    return Report(
        source={"files": ["run.csv"], "format": "rocprof_csv", "vendor": vendor, "devices": {"0": "MI300X"}},
        measurements=tuple(measurements),
        tables=_tables(name),
        findings=(Finding("verdict", Severity.WARNING, f"{name} drains device 0", {}, {"drains": drains}),),
    )


HOST_US = {
    "host/blocked": 300,
    "host/blocked/explicit": 300,
    "host/blocked/implicit": 0,
    "host/blocked/device_bound": 280,
    "host/blocked/return_latency": 20,
    **{f"host/blocked/{reason}": 0 for reason in Reason},
    "host/blocked/sync_copy": 300,
}


def _device_us(busy: int, idle: Mapping[Cause, int]) -> dict[str, int]:
    whole = sum(idle.values())
    return {
        "device/window": busy + whole,
        "device/busy": busy,
        "device/idle": whole,
        **{f"device/idle/{cause}": idle.get(cause, 0) for cause in Cause},
        "drain/idle": idle.get(Cause.DRAIN, 0),
        "launch/floor": 8,
        **{f"run_ahead/{q}": us for q, us in zip(QUANTILES, (8, 8, 10, 102, 303), strict=True)},
    }


def _time(tag: str, us: int, scope: Mapping[str, int]) -> Measurement:
    better = Better.NEITHER if tag == "device/busy" else Better.LOWER
    return Measurement(tag, scope, us * US, "ns", tag, better)


def _count(tag: str, value: int, scope: Mapping[str, int]) -> Measurement:
    return Measurement(tag, scope, value, "count", tag, Better.LOWER)


def _ratio(tag: str, value: float, scope: Mapping[str, int]) -> Measurement:
    return Measurement(tag, scope, value, "ratio", tag, Better.HIGHER)


def _tables(name: str) -> dict[str, Table]:
    """Two waits that drain and a final one; idle times as in the default report."""
    waits = (
        (100 * US, 200 * US, 1, 7, name, "sync_copy", 100 * US, True, False, 30 * US),
        (300 * US, 400 * US, 1, 7, name, "sync_copy", 100 * US, True, False, 50 * US),
        (400 * US, 500 * US, 1, 7, "hipDeviceSynchronize", "device_sync", 100 * US, False, True, 0),
    )
    drains = ((0, 190 * US, 220 * US, 30 * US, name), (0, 390 * US, 440 * US, 50 * US, name))
    idle = (
        (0, 190 * US, 220 * US, 30 * US, "drain"),
        (0, 300 * US, 320 * US, 20 * US, "host_late"),
        (0, 390 * US, 440 * US, 50 * US, "drain"),
    )
    calls = ((name, "sync_copy", 2, 200 * US, 2, 80 * US, "backward", "aten::item"),)
    return {
        "waits": _table(
            "start:ns end:ns process:id thread:id call:text reason:text blocked:ns drained:text "
            "terminal:text idle_caused:ns",
            waits,
            "Waits",
        ),
        "drains": _table("device:id start:ns end:ns idle:ns call:text", drains, "Drains"),
        "idle": _table("device:id start:ns end:ns idle:ns cause:text", idle, "Idle time by cause"),
        "calls_by_cause": _table(
            "call:text reason:text count:count blocked:ns drains:count idle_caused:ns range:text op:text",
            calls,
            "What blocks",
        ),
    }


def _table(columns: str, rows: tuple[tuple[str | int | bool, ...], ...], title: str) -> Table:
    return Table(tuple(Column(*column.split(":")) for column in columns.split()), rows, title)
