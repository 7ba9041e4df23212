"""How far the host leads the device, and what the queue held."""

from __future__ import annotations

import numpy as np

from overlap_lab import native
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.floor import launch_floor, quantiles

__all__ = ["queue_peaks", "run_ahead", "twice_median_lead"]

Values = dict[str, int | float | None]

_TENTHS = {"min": 0, "p10": 1, "median": 5, "p90": 9, "max": 10}


def run_ahead(context: Context, device: int) -> Values:
    """Quantiles of run-ahead over the device's linked ops that start inside the window."""
    ops = context.ops.lent(context.devices[device])
    tenths = list(_TENTHS.values())
    from_end = native.run_ahead(context.trace, ops, context.window, True, tenths)
    values: Values = {}
    for name, around in (
        ("run_ahead", _leads(context, device, context.window)),
        ("run_ahead_from_end", from_end),
    ):
        found = quantiles(*around, tenths)
        values |= {f"{name}/{each}": value for each, value in zip(_TENTHS, found, strict=True)}
    values["launch/floor"] = launch_floor(context, device, context.window)
    return values


def twice_median_lead(context: Context, device: int) -> int | None:
    """Twice the median run-ahead of the device's linked ops, in or outside of any window; None of none."""
    size, low, high = _leads(context, device, None)
    if size == 0:
        return None
    middle = list(_TENTHS).index("median")
    return low[middle] + (high[middle] if size % 2 == 0 else low[middle])


def _leads(context: Context, device: int, window: Window | None) -> tuple[int, list[int], list[int]]:
    """The numbers around each tenth of run-ahead, for `quantiles`."""
    key = (device, window)
    if key not in context.leads:
        ops = context.ops.lent(context.devices[device])
        context.leads[key] = native.run_ahead(context.trace, ops, window, False, list(_TENTHS.values()))
    return context.leads[key]


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
