"""What a report says about the trace it was made from."""

from __future__ import annotations

from collections.abc import Mapping

from overlap_lab.metrics.clock import Shift
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.settings import FLOOR_NS, NEARNESS_NS, SLACK_NS
from overlap_lab.quality import Quality
from overlap_lab.schema import ABSENT_DEVICE

__all__ = ["source_of"]


def source_of(context: Context, faults: Quality, shifts: Mapping[int, Shift]) -> dict[str, object]:
    """JSON-ready: files, tools, devices, the windows used, and the thresholds of the wait rules."""
    source = context.trace.source
    windows = {
        str(device): list(context.window_of(device)) for device in context.devices if device != ABSENT_DEVICE
    }
    return {
        "files": list(source.files),
        "format": source.format,
        "vendor": source.vendor,
        "tool": source.tool,
        "clock": source.clock,
        "devices": {str(number): name for number, name in source.devices.items()},
        "processes": {str(number): name for number, name in source.processes.items()},
        "window": list(context.window) if context.window else None,
        "device_windows": windows,
        "trace_start_ns": int(context.trace.start_ns[0]) if len(context.trace) else None,
        "settings": {
            "floor_ns": FLOOR_NS,
            "floor_ns_by_name": dict(context.waits.floors),
            "nearness_ns": NEARNESS_NS,
            "slack_ns": SLACK_NS,
        },
        "metadata": dict(source.metadata),
        "notes": list(source.notes),
        "faults": {str(fault): count for fault, count in faults.count.items() if count},
        "clock_shift_ns": {
            str(device): {"low": shift.low, "high": shift.high} for device, shift in shifts.items()
        },
        "clipped_ns": faults.cut_ns,
    }
