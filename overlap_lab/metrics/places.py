"""Where in the program a moment lies: the innermost range, framework op or Python frame around it."""

from __future__ import annotations

from overlap_lab.metrics.context import Context
from overlap_lab.native import innermost_rows
from overlap_lab.schema import Kind

__all__ = ["around_waits", "relative_start_ns"]


def around_waits(context: Context, kind: Kind) -> list[str | None]:
    """For each wait the name of the innermost row of a kind around it on its thread; None where none is."""
    trace, waits = context.trace, context.waits
    rows = innermost_rows(
        trace.kind,
        (context.links.thread, trace.start_ns, trace.end_ns),
        kind,
        (waits.thread, waits.start, waits.end),
    )
    return [trace.name_of(row) if row >= 0 else None for row in rows.tolist()]


def relative_start_ns(context: Context) -> int:
    """The trace's first moment, which tables count from."""
    return int(context.trace.start_ns[0]) if len(context.trace) else 0
