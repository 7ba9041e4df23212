"""Where in the program a moment lies: the innermost range, framework op or Python frame around it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import Ints, Numbers
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.native import innermost_rows
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = ["around_waits", "lines_around_waits", "names_of", "relative_start_ns"]

Kinds = npt.NDArray[np.uint8]


def around_waits(context: Context, kind: Kind) -> list[str | None]:
    """For each wait the name of the innermost row of a kind around it on its thread; None where none is."""
    return _innermost(context, context.trace.kind, kind)


def lines_around_waits(context: Context) -> list[str | None]:
    """For each wait the name of the innermost Python frame of the user's own files around it, else of the
    innermost that leads to any file, else of the innermost: a built-in such as `<built-in method item>`."""
    trace = context.trace
    rows = np.flatnonzero(trace.kind == Kind.PYTHON)
    if rows.size == 0:
        return [None] * context.waits.row.size
    codes = trace.name[rows]
    frames = {code: frame_in(trace.names[code]) for code in np.unique(codes).tolist() if code >= 0}
    lines = [code for code, frame in frames.items() if frame]
    own = [code for code, frame in frames.items() if frame and frame.is_own]
    found: list[str | None] = [None] * context.waits.row.size
    for wanted in (rows[np.isin(codes, own)], rows[np.isin(codes, lines)], rows):
        if None in found:
            others = _innermost(context, _marked(trace, wanted), 1)
            found = [mine or other for mine, other in zip(found, others, strict=True)]
    return found


def _marked(trace: Trace, rows: Ints) -> Kinds:
    chosen = np.zeros_like(trace.kind)
    chosen[rows] = 1
    return chosen


def _innermost(context: Context, kinds: Kinds, kind: int) -> list[str | None]:
    """For each wait the name of the innermost row of that kind around it."""
    trace, waits = context.trace, context.waits
    rows = innermost_rows(
        kinds,
        (context.links.row_threads(), trace.start_ns, trace.end_ns),
        kind,
        (waits.thread, waits.start, waits.end),
    )
    if bool((rows < 0).all()):
        return [None] * rows.size
    names = names_of(trace, rows)
    return [name if row >= 0 else None for name, row in zip(names, rows.tolist(), strict=True)]


def names_of(trace: Trace, rows: Numbers) -> list[str]:
    """The name of each row, empty where it has none."""
    codes, which = np.unique(trace.name[rows], return_inverse=True)
    names = np.array([trace.names[code] if code >= 0 else "" for code in codes.tolist()], object)
    return list(names[which].tolist())


def relative_start_ns(context: Context) -> int:
    """The trace's first moment, which tables count from."""
    return int(context.trace.start_ns[0]) if len(context.trace) else 0
