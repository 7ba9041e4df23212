"""Counts and costs of device drains and stream drains."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from overlap_lab.columns import Ints, Mask
from overlap_lab.intervals import clip
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.drained import Drains

__all__ = ["device_drains", "drains_inside", "stream_drains"]

Values = dict[str, int | float | None]


def device_drains(context: Context, device: int) -> Values:
    """`drain/*` values of one device."""
    key = ("drains", device, context.window)
    if key not in context.values:
        context.values[key] = _device_drains(context, device)
    return context.values[key]


def _device_drains(context: Context, device: int) -> Values:
    drains, window = context.drains[device], context.window
    inside = drains_inside(drains, window)
    returns = context.waits.end[drains.terminal_waits]
    terminal = (
        returns.size > 0 if window is None else bool(((returns > window[0]) & (returns <= window[1])).any())
    )
    return {
        "drain/count": int(inside.sum()),
        "drain/terminal": int(terminal),
        "drain/idle": _total(drains.start, drains.end, window),
        "drain/idle/return": _total(drains.start, drains.returned, window),
        "drain/idle/refill": _total(drains.returned, drains.enqueued, window),
        "drain/idle/launch": _total(drains.enqueued, drains.end, window),
    }


def stream_drains(context: Context, lanes: Iterable[Drains]) -> Values:
    """`stream/drain/*` values of one stream number of one device, over the processes that use it."""
    every = tuple(lanes)
    return {
        "stream/drain/count": sum(int(drains_inside(each, context.window).sum()) for each in every),
        "stream/drain/idle": sum(_total(each.start, each.end, context.window) for each in every),
    }


def drains_inside(drains: Drains, window: Window | None) -> Mask:
    """Which drains have idle time inside the window."""
    start, end = clip(drains.start, drains.end, window)
    return np.asarray(end > start)


def _total(start: Ints, end: Ints, window: Window | None) -> int:
    first, last = clip(start, end, window)
    return int((last - first).sum())
