"""Run-ahead of the ops of a device, and what it is at least: the launch floor."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Rows, code_bits, dense_codes, gather, order
from overlap_lab.metrics.material import Material
from overlap_lab.metrics.queue import from_graphs
from overlap_lab.schema import Api

__all__ = ["interpolated", "launch_floor", "measured_ops", "quantiles"]

Window = tuple[int, int]


def launch_floor(material: Material, device: int, window: Window | None) -> int | None:
    """10th percentile of run-ahead over ops launched onto an empty stream, of a graph only the first one."""
    key = (device, window)
    if key not in material.floors:
        material.floors[key] = _floor_of(material, device, window)
    return material.floors[key]


def _floor_of(material: Material, device: int, window: Window | None) -> int | None:
    if material.links.apis & code_bits((Api.GRAPH_LAUNCH,)):
        return _floor_with_graphs(material, device, window)
    ops = material.ops.lent(material.devices[device])
    places = material.links.places.part.size
    return interpolated(*native.empty_run_ahead(ops, window, places, [1]), (1,))[0]


def _floor_with_graphs(material: Material, device: int, window: Window | None) -> int | None:
    op = measured_ops(material, device, window)
    if op.size == 0:
        return None
    ops, caller = material.ops, material.links.caller
    alone = op
    graph = from_graphs(material.trace, material.links, op)
    if graph.any():
        made = op[graph]
        made = made[order(caller[made], ops.start[made])]
        first = np.r_[True, caller[made][1:] != caller[made][:-1]]
        alone = np.concatenate((op[~graph], made[first]))
    alone = alone[~_stream_occupied(material, device, alone)]
    return quantiles(gather(ops.start, alone) - gather(ops.enqueue, alone), (1,))[0]


def measured_ops(material: Material, device: int, window: Window | None) -> Rows:
    """Linked ops of the device that do not start before their enqueue call, by start inside the window."""
    index = material.devices[device].index
    ops = material.ops
    keep = gather(ops.start, index) >= gather(ops.enqueue, index)
    keep &= gather(material.links.caller, index) >= 0
    if window is not None:
        first, last = window
        keep &= (gather(ops.start, index) >= first) & (gather(ops.start, index) < last)
    return index[keep]


def quantiles(values: Ints, tenths: Sequence[int]) -> list[int | None]:
    """Quantiles of whole numbers by linear interpolation, rounded to whole ones; None of nothing."""
    if values.size == 0:
        return [None] * len(tenths)
    places = [(values.size - 1) * each // 10 for each in tenths]
    above = [min(place + 1, values.size - 1) for place in places]
    found = np.partition(values, sorted({*places, *above}))
    return interpolated(values.size, found[places].tolist(), found[above].tolist(), tenths)


def interpolated(
    size: int, low: Sequence[int], high: Sequence[int], tenths: Sequence[int]
) -> list[int | None]:
    """Quantiles of so many whole numbers, of which those right below and right above each are given."""
    if size == 0:
        return [None] * len(tenths)
    result: list[int | None] = []
    for tenth, one, other in zip(tenths, low, high, strict=True):
        share = Fraction((size - 1) * tenth, 10) % 1
        result.append(round(one + (other - one) * share))
    return result


def _stream_occupied(material: Material, device: int, asked: Rows) -> Mask:
    """Whether an op of the same stream was outstanding when each op was enqueued."""
    ops = material.ops
    index = material.devices[device].index
    lane = dense_codes(gather(material.links.place, index))
    occupied = np.zeros(ops.start.size, np.bool_)
    enqueue = gather(ops.enqueue, index)
    occupied[index] = native.reach_before(lane, enqueue, gather(ops.end, index)) > enqueue
    return gather(occupied, asked)
