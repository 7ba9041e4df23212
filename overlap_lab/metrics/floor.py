"""Run-ahead of the ops of a device, and what it is at least: the launch floor."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from overlap_lab import native
from overlap_lab.columns import Rows, gather
from overlap_lab.metrics.material import Material

__all__ = ["launch_floor", "measured_ops", "quantiles"]

Window = tuple[int, int]


def launch_floor(material: Material, device: int, window: Window | None) -> int | None:
    """10th percentile of run-ahead over ops launched onto an empty stream, of a graph only the first one."""
    key = (device, window)
    if key not in material.floors:
        ops, places = material.ops.lent(material.devices[device]), material.links.places.part.size
        found = native.empty_run_ahead(material.trace, ops, window, places, [1])
        material.floors[key] = quantiles(*found, (1,))[0]
    return material.floors[key]


def measured_ops(material: Material, device: int, window: Window | None) -> Rows:
    """Linked ops of the device that do not start before their enqueue call, by start inside the window."""
    index, ops = material.devices[device].index, material.ops
    start = gather(ops.start, index)
    keep = (start >= gather(ops.enqueue, index)) & (gather(material.links.caller, index) >= 0)
    if window is not None:
        keep &= (start >= window[0]) & (start < window[1])
    return index[keep]


def quantiles(size: int, low: Sequence[int], high: Sequence[int], tenths: Sequence[int]) -> list[int | None]:
    """Quantiles of so many whole numbers by linear interpolation, rounded to whole ones; None of nothing.

    `low` and `high` are the numbers at the ranks right below and right above each.
    """
    if size == 0:
        return [None] * len(tenths)
    result: list[int | None] = []
    for tenth, one, other in zip(tenths, low, high, strict=True):
        share = Fraction((size - 1) * tenth, 10) % 1
        result.append(round(one + (other - one) * share))
    return result
