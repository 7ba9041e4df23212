"""How far the host leads the device, and what the queue held."""

from __future__ import annotations

import numpy as np

from overlap_lab.columns import gather
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.floor import launch_floor, measured_ops, quantiles

__all__ = ["queue_peaks", "run_ahead"]

Values = dict[str, int | float | None]

_TENTHS = {"min": 0, "p10": 1, "median": 5, "p90": 9, "max": 10}


def run_ahead(context: Context, device: int) -> Values:
    """Quantiles of run-ahead over the device's linked ops that start inside the window."""
    op = measured_ops(context, device, context.window)
    ops = context.ops
    values: Values = {}
    for name, since in (
        ("run_ahead", gather(ops.enqueue, op)),
        ("run_ahead_from_end", context.links.returns(op)),
    ):
        found = quantiles(gather(ops.start, op) - since, list(_TENTHS.values()))
        values |= {f"{name}/{each}": value for each, value in zip(_TENTHS, found, strict=True)}
    values["launch/floor"] = launch_floor(context, device, context.window)
    return values


def queue_peaks(context: Context, device: int) -> Values:
    """The deepest queue and the most queued work at any time inside the window."""
    queue = context.queue(device)
    times = queue.work_entered
    if queue.entered is not times:
        times = np.concatenate((queue.entered, times))
    if context.window is not None:
        first, last = context.window
        times = np.r_[times[(times >= first) & (times < last)], first]
    return {
        "queue/depth_max": int(queue.depth(times).max()),
        "queue/work_max": int(queue.queued_work(times).max()),
    }
