"""How long a device stood idle while the host regained the lead that waits had taken from it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, count_before, count_until, gather
from overlap_lab.intervals import Intervals, clip, intersect, length, union
from overlap_lab.metrics.causes import CAUSES, Segments
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.drained import Drains
from overlap_lab.metrics.floor import measured_ops
from overlap_lab.schema import ABSENT, LATEST_NS, Cause

__all__ = ["recoveries", "recovery_idle"]

_LATE: Final = (Cause.HOST_LATE, Cause.LAUNCH)
"""What a lead of the host prevents."""
_NOTHING: Final = -(1 << 62)


def recovery_idle(context: Context, device: int, recovered: Intervals) -> dict[Cause, int]:
    """Idle time of a device inside of its recoveries and of the window, by cause: late hosts and launches."""
    start, end = clip(*recovered, context.window)
    inside = start[end > start], end[end > start]
    segments = context.idle[device]
    return {cause: length(intersect(inside, _pieces(segments, cause))) for cause in _LATE}


def recoveries(context: Context, device: int) -> Intervals:
    """When the host was regaining its lead on a device after drains, over the whole trace.

    From the end of a drain's gap until an op starts with at least the run-ahead that the last op enqueued
    before the wait had. Where the device has by then stood idle before late launches for as long as that
    run-ahead, less the drain's own idle time, it ends there: a lead bridges no more than it is long.
    """
    drains = context.drains[device]
    ops = context.ops.lent(context.devices[device])
    if drains.gap.size == 0:
        return _intervals([])
    called = context.waits.start[drains.wait]
    lead, _ = native.recoveries(ops, (called, drains.end, drains.returned), 0, ABSENT)
    until = np.maximum.accumulate(_regained(context, device, drains, lead))
    lost = np.maximum(np.where(lead == ABSENT, 0, lead) - (drains.end - drains.start), 0)
    return _intervals(list(_stretches(drains, lost, until, _late(context.idle[device]))))


def _intervals(found: list[tuple[int, int]]) -> Intervals:
    edges = np.array(found, np.int64).reshape(-1, 2)
    return union(np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1]))


def _stretches(drains: Drains, lost: Ints, until: Ints, late: Intervals) -> Iterator[tuple[int, int]]:
    """The recovery behind each drain, up to the next one, with what is left of the leads lost before."""
    total = np.zeros(late[0].size + 1, np.int64)
    np.cumsum(late[1] - late[0], out=total[1:])
    before = gather(total, count_until(late[0], drains.end)).tolist()
    behind = np.minimum(until, np.r_[drains.start[1:], LATEST_NS])
    spent_until = gather(total, count_before(late[0], behind)).tolist()
    starts, totals = late[0].tolist(), total.tolist()
    budget = 0
    rows = (drains.end.tolist(), behind.tolist(), until.tolist(), lost.tolist(), before, spent_until)
    for begin, stop, regained, more, first, last in zip(*rows, strict=True):
        budget += more
        spent = last - first
        if spent > budget:
            at = bisect_right(totals, first + budget) - 1
            yield begin, max(begin, starts[at] + first + budget - totals[at])
        else:
            yield begin, stop
        budget = 0 if regained <= stop else max(budget - spent, 0)


def _regained(context: Context, device: int, drains: Drains, lead: Ints) -> Ints:
    """When an op first starts behind each drain's gap with at least that run-ahead, else the end."""
    index = measured_ops(context, device, None)
    start = gather(context.ops.start, index)
    by_start = np.argsort(start, kind="stable")
    start, enqueue = start[by_start], gather(context.ops.enqueue, index)[by_start]
    at = _next_at_least(start - enqueue, np.asarray(count_before(start, drains.end), np.int64), lead)
    return np.append(start, LATEST_NS)[np.minimum(at, start.size)]


def _next_at_least(values: Ints, since: Ints, least: Ints) -> Ints:
    """The first place from each `since` on whose value is at least `least`, the size where none is."""
    levels = [np.append(values, _NOTHING)]
    while levels[-1].size > 1:
        last = levels[-1] if levels[-1].size % 2 == 0 else np.append(levels[-1], _NOTHING)
        levels[-1] = last
        levels.append(np.maximum(last[::2], last[1::2]))
    at, level = since.copy(), np.full(since.size, -1)
    for height, most in enumerate(levels):
        open_ = level < 0
        inside = np.minimum(at, most.size - 1)
        level[open_ & (at < most.size) & (most[inside] >= least)] = height
        # What is not found here is sought among the pairs behind it.
        at = np.where(level < 0, (at + 1) // 2, at)
    for height in range(len(levels) - 1, 0, -1):
        down = level >= height
        left = np.minimum(2 * at, levels[height - 1].size - 1)
        at = np.where(down, np.where(levels[height - 1][left] >= least, 2 * at, 2 * at + 1), at)
    return np.where(level < 0, values.size, at)


def _late(segments: Segments) -> Intervals:
    """Idle time before late launches: their two causes together, by start."""
    mine = np.isin(segments.cause, [CAUSES.index(cause) for cause in _LATE])
    return segments.start[mine], segments.end[mine]


def _pieces(segments: Segments, cause: Cause) -> Intervals:
    mine = segments.cause == CAUSES.index(cause)
    return segments.start[mine], segments.end[mine]
