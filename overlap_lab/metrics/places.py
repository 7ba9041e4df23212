"""Where in the program a moment lies: the innermost range, framework op or Python frame around it."""

from __future__ import annotations

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.metrics.context import Context
from overlap_lab.native import innermost_rows
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = ["around_waits", "names_of", "relative_start_ns"]


def around_waits(context: Context, kind: Kind) -> list[str | None]:
    """For each wait the name of the innermost row of a kind around it on its thread; None where none is."""
    trace, waits = context.trace, context.waits
    rows = innermost_rows(
        trace.kind,
        (context.links.thread, trace.start_ns, trace.end_ns),
        kind,
        (waits.thread, waits.start, waits.end),
    )
    if bool((rows < 0).all()):
        return [None] * rows.size
    names = names_of(trace, rows)
    return [name if row >= 0 else None for name, row in zip(names, rows.tolist(), strict=True)]


def names_of(trace: Trace, rows: Ints) -> list[str]:
    """The name of each row, empty where it has none."""
    codes, which = np.unique(trace.name[rows], return_inverse=True)
    names = np.array([trace.names[code] if code >= 0 else "" for code in codes.tolist()], object)
    return list(names[which].tolist())


def relative_start_ns(context: Context) -> int:
    """The trace's first moment, which tables count from."""
    return int(context.trace.start_ns[0]) if len(context.trace) else 0
