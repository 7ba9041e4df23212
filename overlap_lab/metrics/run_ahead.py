"""How far the host leads the device, and what the queue held."""

from __future__ import annotations

import numpy as np

from overlap_lab import native
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.floor import launch_floor, quantiles

__all__ = ["queue_peaks", "run_ahead"]

Values = dict[str, int | float | None]

_TENTHS = {"min": 0, "p10": 1, "median": 5, "p90": 9, "max": 10}


def run_ahead(context: Context, device: int) -> Values:
    """Quantiles of run-ahead over the device's linked ops that start inside the window."""
    ops = context.ops.lent(context.devices[device])
    tenths = list(_TENTHS.values())
    values: Values = {}
    for name, from_return in (("run_ahead", False), ("run_ahead_from_end", True)):
        around = native.run_ahead(context.trace, ops, context.window, from_return, tenths)
        found = quantiles(*around, tenths)
        values |= {f"{name}/{each}": value for each, value in zip(_TENTHS, found, strict=True)}
    values["launch/floor"] = launch_floor(context, device, context.window)
    return values


def queue_peaks(context: Context, device: int) -> Values:
    """The deepest queue and the most queued work at any time inside the window."""
    if context.window is None:
        lane = context.devices[device]
        depth, work = native.queue_peaks(context.trace, context.ops.lent(lane), lane.ops.end)
        return {"queue/depth_max": depth, "queue/work_max": work}
    queue = context.queue(device)
    times = np.concatenate((queue.entered, queue.work_entered))
    if context.window is not None:
        first, last = context.window
        times = np.r_[times[(times >= first) & (times < last)], first]
    return {
        "queue/depth_max": int(queue.depth(times).max()),
        "queue/work_max": int(queue.queued_work(times).max()),
    }
