"""Which waits a violated rule is about, by place, with the stack around the costliest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from overlap_lab.compare.checked import Checked, Culprit
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.places import around_waits, lines_around_waits
from overlap_lab.metrics.waits import REASONS
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Kind

__all__ = ["stack_around", "waits_inside", "with_culprits"]

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


def with_culprits(checked: Checked, context: Context, wait: np.ndarray) -> Checked:
    """The result with the places of these waits, those that idle the device longest first, at most five of
    them, and how many there are in all."""
    found = _culprits_of(context, wait) if wait.size else []
    drains = sum(one.drains for one in found)
    return replace(checked, culprits=tuple(found[:_MOST]), places=len(found), drains=drains)


def _culprits_of(context: Context, wait: np.ndarray) -> list[Culprit]:
    waits, trace = context.waits, context.trace
    parts, drains = np.zeros((3, waits.row.size), np.int64), np.zeros(waits.row.size, np.int64)
    device = np.full(waits.row.size, ABSENT_DEVICE, np.int64)
    for number, drained in context.drains.items():
        edges = drained.start, drained.returned, drained.enqueued, drained.end
        for part, (first, last) in zip(parts, itertools.pairwise(edges), strict=True):
            np.add.at(part, drained.wait, last - first)
        np.add.at(drains, drained.wait, 1)
        device[drained.wait] = number
    idle = parts.sum(axis=0)
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
                parts_ns=tuple(parts[:, mine].sum(axis=1).tolist()),
            )
        )
    found.sort(key=lambda one: (-one.idle_ns, -one.blocked_ns, one.call))
    return found


def stack_around(context: Context, wait: int) -> tuple[str, ...]:
    """The Python frames around a wait, outermost first."""
    trace, waits = context.trace, context.waits
    start, end = int(waits.start[wait]), int(waits.end[wait])
    before = int(np.searchsorted(trace.start_ns, start, side="right"))
    rows = np.flatnonzero(trace.kind[:before] == Kind.PYTHON)
    rows = rows[(trace.end_ns[rows] >= end) & (context.links.row_threads()[rows] == waits.thread[wait])]
    rows = rows[np.lexsort((-trace.end_ns[rows], trace.start_ns[rows]))]
    return tuple(trace.name_of(row) for row in rows.tolist())
