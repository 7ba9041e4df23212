"""Where in the program a moment lies: the innermost range, framework op or Python frame around it."""

from __future__ import annotations

import numpy as np

from overlap_lab.intervals import Ints, last_below
from overlap_lab.metrics.context import Context
from overlap_lab.schema import Kind

__all__ = ["around", "relative_start_ns"]


def around(context: Context, kind: Kind, thread: Ints, start: Ints, end: Ints) -> list[str | None]:
    """Name of the innermost row of a kind around each [start, end) on its thread; None where none is."""
    trace = context.trace
    rows = np.flatnonzero(trace.kind == kind)
    found: list[str | None] = [None] * start.size
    if rows.size == 0:
        return found
    rows = rows[np.argsort(context.links.thread[rows], kind="stable")]
    owner = context.links.thread[rows]
    for one in np.unique(thread).tolist():
        low, high = np.searchsorted(owner, [one, one + 1])
        mine = np.flatnonzero(thread == one)
        opened = np.searchsorted(trace.start_ns[rows[low:high]], start[mine], side="right")
        last = last_below(-trace.end_ns[rows[low:high]], np.zeros_like(opened), opened, 1 - end[mine])
        for index, at in zip(mine.tolist(), last.tolist(), strict=True):
            found[index] = trace.name_of(int(rows[low + at])) if at >= 0 else None
    return found


def relative_start_ns(context: Context) -> int:
    """The trace's first moment, which tables count from."""
    return int(context.trace.start_ns[0]) if len(context.trace) else 0
