"""How far the host leads the device, and what the queue held."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from overlap_lab.intervals import Ints, Mask
from overlap_lab.link import dense_codes
from overlap_lab.metrics.context import Context
from overlap_lab.schema import ABSENT

__all__ = ["launch_floor", "quantile", "queue_peaks", "run_ahead"]

Values = dict[str, int | float | None]

_TENTHS = {"min": 0, "p10": 1, "median": 5, "p90": 9, "max": 10}


def run_ahead(context: Context, device: int) -> Values:
    """Quantiles of run-ahead over the device's linked ops that start inside the window."""
    op = _measured(context, device)
    ops = context.ops
    lead = np.sort(ops.start[op] - ops.enqueue[op])
    lead_from_end = np.sort(ops.start[op] - ops.enqueue_end[op])
    values: Values = {f"run_ahead/{name}": quantile(lead, tenths) for name, tenths in _TENTHS.items()}
    for name, tenths in _TENTHS.items():
        values[f"run_ahead_from_end/{name}"] = quantile(lead_from_end, tenths)
    values["launch/floor"] = launch_floor(context, device)
    return values


def launch_floor(context: Context, device: int) -> int | None:
    """10th percentile of run-ahead over the calls that launched onto an empty stream."""
    op = _measured(context, device)
    if op.size == 0:
        return None
    ops = context.ops
    order = op[np.lexsort((ops.start[op], context.links.call[op]))]
    first = np.r_[True, context.links.call[order][1:] != context.links.call[order][:-1]]
    alone = order[first]
    alone = alone[~_stream_occupied(context, device, alone)]
    return quantile(np.sort(ops.start[alone] - ops.enqueue[alone]), 1)


def queue_peaks(context: Context, device: int) -> Values:
    """The deepest queue and the most queued work at any time inside the window."""
    queue = context.queues[device]
    times = np.r_[queue.entered, queue.work_entered]
    if context.window is not None:
        first, last = context.window
        times = np.r_[times[(times >= first) & (times < last)], first]
    return {
        "queue/depth_max": int(queue.depth(times).max()),
        "queue/work_max": int(queue.queued_work(times).max()),
    }


def quantile(ordered: Ints, tenths: int) -> int | None:
    """Quantile of sorted whole numbers by linear interpolation, rounded to a whole one; None of nothing."""
    if ordered.size == 0:
        return None
    position = Fraction((ordered.size - 1) * tenths, 10)
    below = int(position)
    low = int(ordered[below])
    high = int(ordered[min(below + 1, ordered.size - 1)])
    return round(low + (high - low) * (position - below))


def _measured(context: Context, device: int) -> Ints:
    """Linked ops of the device that do not start before their enqueue call, by start inside the window."""
    index = context.devices[device].index
    ops = context.ops
    keep = context.links.linked[index] & (ops.start[index] >= ops.enqueue[index])
    if context.window is not None:
        first, last = context.window
        keep &= (ops.start[index] >= first) & (ops.start[index] < last)
    return index[keep]


def _stream_occupied(context: Context, device: int, asked: Ints) -> Mask:
    """Whether an op of the same stream was outstanding when each op was enqueued."""
    ops = context.ops
    index = context.devices[device].index
    lane = dense_codes(ops.owner[index], np.where(ops.stream[index] == ABSENT, ABSENT, ops.stream[index]))
    order = np.lexsort((ops.enqueue[index], lane))
    ordered_lane, enqueue, end = lane[order], ops.enqueue[index][order], ops.end[index][order]
    ranks = np.unique(end, return_inverse=True)[1]
    reach = np.maximum.accumulate(ordered_lane * (end.size + 1) + ranks + 1)
    ends = np.unique(end)
    # The first op of the same lane with the same enqueue start: everything before it was enqueued earlier.
    fresh = np.r_[True, (ordered_lane[1:] != ordered_lane[:-1]) | (enqueue[1:] != enqueue[:-1])]
    head = np.maximum.accumulate(np.where(fresh, np.arange(order.size), 0))
    before = np.maximum(head - 1, 0)
    same = (head > 0) & (ordered_lane[before] == ordered_lane)
    latest = ends[np.where(same, reach[before] - ordered_lane * (end.size + 1) - 1, 0)]
    occupied = np.zeros(ops.start.size, np.bool_)
    occupied[index[order]] = same & (latest > enqueue)
    return occupied[asked]
