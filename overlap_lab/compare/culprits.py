"""Which waits a violated rule is about, by place, with the stack around the costliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from overlap_lab.compare.checked import Culprit
from overlap_lab.intervals import clip
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.places import around_waits, lines_around_waits
from overlap_lab.metrics.waits import REASONS
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Kind

__all__ = ["culprits_of", "stack_around", "waits_inside"]

_MOST: Final = 5


def waits_inside(context: Context, windows: Sequence[Window] | None) -> np.ndarray:
    """Indexes of the waits that are not final and block in one of the windows; None: in the whole trace."""
    waits = context.waits
    final = np.zeros(waits.row.size, np.bool_)
    for drains in context.drains.values():
        final[drains.terminal_waits] = True
    if windows is None:
        return np.flatnonzero(~final)
    inside = np.zeros(waits.row.size, np.bool_)
    for first, last in windows:
        inside |= (waits.start < last) & (waits.end > first)
    return np.flatnonzero(inside & ~final)


def culprits_of(context: Context, wait: np.ndarray) -> tuple[Culprit, ...]:
    """The places of these waits, those that idle the device longest first, at most five."""
    if wait.size == 0:
        return ()
    waits, trace = context.waits, context.trace
    idle, drains = np.zeros(waits.row.size, np.int64), np.zeros(waits.row.size, np.int64)
    device = np.full(waits.row.size, ABSENT_DEVICE, np.int64)
    for number, drained in context.drains.items():
        first, last = clip(drained.start, drained.end, None)
        np.add.at(idle, drained.wait, last - first)
        np.add.at(drains, drained.wait, 1)
        device[drained.wait] = number
    ranges, ops = (around_waits(context, kind) for kind in (Kind.RANGE, Kind.CPU_OP))
    frames = lines_around_waits(context)
    groups: dict[tuple[object, ...], list[int]] = {}
    for one in wait.tolist():
        name = int(trace.name[waits.row[one]])
        groups.setdefault((name, int(waits.reason[one]), ranges[one], ops[one], frames[one]), []).append(one)
    found = []
    for members in groups.values():
        mine = np.array(members)
        index = max(members, key=lambda one: (idle[one], waits.end[one] - waits.start[one]))
        stream = int(trace.stream[waits.row[index]])
        found.append(
            Culprit(
                call=trace.name_of(int(waits.row[index])),
                reason=str(REASONS[int(waits.reason[index])]),
                count=len(members),
                blocked_ns=int((waits.end[mine] - waits.counted_from[mine]).sum()),
                idle_ns=int(idle[mine].sum()),
                drains=int(drains[mine].sum()),
                device=None if device[index] == ABSENT_DEVICE else int(device[index]),
                stream=None if stream == ABSENT else stream,
                range_name=ranges[index],
                op=ops[index],
                stack=stack_around(context, index),
            )
        )
    found.sort(key=lambda one: (-one.idle_ns, -one.blocked_ns, one.call))
    return tuple(found[:_MOST])


def stack_around(context: Context, wait: int) -> tuple[str, ...]:
    """The Python frames around a wait, outermost first."""
    trace, waits = context.trace, context.waits
    start, end = int(waits.start[wait]), int(waits.end[wait])
    before = int(np.searchsorted(trace.start_ns, start, side="right"))
    rows = np.flatnonzero(trace.kind[:before] == Kind.PYTHON)
    rows = rows[(trace.end_ns[rows] >= end) & (context.links.row_threads()[rows] == waits.thread[wait])]
    rows = rows[np.lexsort((-trace.end_ns[rows], trace.start_ns[rows]))]
    return tuple(trace.name_of(row) for row in rows.tolist())
