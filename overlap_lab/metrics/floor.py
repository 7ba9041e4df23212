"""Run-ahead of the ops of a device, and what it is at least: the launch floor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from overlap_lab.intervals import Ints, Mask
from overlap_lab.link import dense_codes
from overlap_lab.metrics.material import Material
from overlap_lab.schema import Api

__all__ = ["launch_floor", "measured_ops", "quantile"]

Window = tuple[int, int]


def launch_floor(material: Material, device: int, window: Window | None) -> int | None:
    """10th percentile of run-ahead over ops launched onto an empty stream, of a graph only the first one."""
    op = measured_ops(material, device, window)
    if op.size == 0:
        return None
    ops, call = material.ops, material.links.call
    order = op[np.lexsort((ops.start[op], call[op]))]
    first = np.r_[True, call[order][1:] != call[order][:-1]]
    alone = order[first | (material.trace.api[call[order]] != Api.GRAPH_LAUNCH)]
    alone = alone[~_stream_occupied(material, device, alone)]
    return quantile(np.sort(ops.start[alone] - ops.enqueue[alone]), 1)


def measured_ops(material: Material, device: int, window: Window | None) -> Ints:
    """Linked ops of the device that do not start before their enqueue call, by start inside the window."""
    index = material.devices[device].index
    ops = material.ops
    keep = material.links.linked[index] & (ops.start[index] >= ops.enqueue[index])
    if window is not None:
        first, last = window
        keep &= (ops.start[index] >= first) & (ops.start[index] < last)
    return index[keep]


def quantile(ordered: Ints, tenths: int) -> int | None:
    """Quantile of sorted whole numbers by linear interpolation, rounded to a whole one; None of nothing."""
    if ordered.size == 0:
        return None
    position = Fraction((ordered.size - 1) * tenths, 10)
    below = int(position)
    low = int(ordered[below])
    high = int(ordered[min(below + 1, ordered.size - 1)])
    return round(low + (high - low) * (position - below))


def _stream_occupied(material: Material, device: int, asked: Ints) -> Mask:
    """Whether an op of the same stream was outstanding when each op was enqueued."""
    ops = material.ops
    index = material.devices[device].index
    lane = dense_codes(ops.owner[index], ops.stream[index])
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
