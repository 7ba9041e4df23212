"""Device busy and idle, with the idle time by cause."""

from __future__ import annotations

import numpy as np

from overlap_lab.columns import Rows
from overlap_lab.intervals import Intervals, clip, length
from overlap_lab.metrics.causes import Segments, late_pieces, piece, sorted_segments
from overlap_lab.metrics.context import Context
from overlap_lab.schema import Cause

__all__ = ["device_idle", "first_op", "idle_segments"]

Values = dict[str, int | float | None]


def device_idle(context: Context, device: int) -> Values:
    """`device/*` values of one device."""
    key = ("idle", device, context.window)
    if key not in context.values:
        context.values[key] = _device_idle(context, device)
    return context.values[key]


def _device_idle(context: Context, device: int) -> Values:
    first, last = context.window_of(device)
    busy = context.busy(device)
    work = length(busy)
    segments = idle_segments(context, device)
    values: Values = {
        "device/busy": work,
        "device/window": last - first,
        "device/idle": last - first - work,
        "device/gaps": _gaps(busy, first, last),
    }
    return values | {f"device/idle/{cause}": total for cause, total in segments.totals().items()}


def _gaps(busy: Intervals, first: int, last: int) -> int:
    """How many holes the busy intervals inside a window leave of it."""
    start, end = busy
    if start.size == 0:
        return int(last > first)
    return int(start.size - 1 + (start[0] > first) + (end[-1] < last))


def idle_segments(context: Context, device: int) -> Segments:
    """The idle time of one device inside the window, by cause.

    A given window may reach beyond the device's ops: before the first one the rules for a late host hold,
    after the last one nothing was enqueued any more, so that the host is late to the end.
    """
    if context.window is None:
        return context.idle[device]
    lane, whole = context.devices[device], context.idle[device]
    first, last = context.window
    inside = slice(np.searchsorted(whole.end, first, side="right"), np.searchsorted(whole.start, last))
    start, end = clip(whole.start[inside], whole.end[inside], context.window)
    pieces = [(start, end, whole.cause[inside], whole.gap[inside])]
    if first < lane.first:
        op = first_op(context, device)
        begin = np.minimum(first, context.ops.enqueue[op])
        before = late_pieces(context, device, begin, op, np.array([-1], np.int32))
        pieces.append((*clip(before[0], before[1], context.window), *before[2:]))
    if last > lane.last:
        pieces.append(piece(np.array([max(lane.last, first)]), np.array([last]), Cause.HOST_LATE, -1))
    return sorted_segments(pieces)


def first_op(context: Context, device: int) -> Rows:
    """The op that a device's idle time before all ops waits for, as an array of one: the first to start, of
    several at once that enqueued first."""
    lane = context.devices[device]
    op: Rows = lane.index[context.ops.start[lane.index] == lane.first]
    at = int(np.argmin(context.ops.enqueue[op]))
    return np.asarray(op[at : at + 1])
