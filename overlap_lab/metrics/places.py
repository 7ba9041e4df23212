"""Where in the program a moment lies: the innermost range, framework op or Python frame around it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from overlap_lab import native
from overlap_lab.columns import Ints, Numbers, Rows, code_bits, gather
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.schema import Kind
from overlap_lab.trace import Trace

__all__ = [
    "around_waits",
    "lines_around_waits",
    "names_around",
    "names_of",
    "near_waits",
    "relative_start_ns",
]

Kinds = npt.NDArray[np.uint8]


def around_waits(context: Context, kind: Kind) -> list[str | None]:
    """For each wait the name of the innermost row of a kind around it on its thread; None where none is."""
    return _innermost(context, context.trace.kind[near_waits(context)[0]], kind)


def lines_around_waits(context: Context) -> list[str | None]:
    """For each wait the name of the innermost Python frame of the user's own files around it, else of the
    innermost that leads to any file, else of the innermost: a built-in such as `<built-in method item>`."""
    trace, near = context.trace, near_waits(context)[0]
    python = trace.kind[near] == Kind.PYTHON
    found: list[str | None] = [None] * context.waits.row.size
    if not python.any():
        return found
    codes = trace.name[near]
    used = np.unique(codes[python]).tolist()
    frames = {code: frame_in(trace.names[code]) for code in used if code >= 0}
    lines = [code for code, frame in frames.items() if frame]
    own = [code for code, frame in frames.items() if frame and frame.is_own]
    for wanted in (python & np.isin(codes, own), python & np.isin(codes, lines), python):
        if None in found:
            others = _innermost(context, wanted.view(np.uint8), 1)
            found = [mine or other for mine, other in zip(found, others, strict=True)]
    return found


def near_waits(context: Context) -> tuple[Rows, Rows]:
    """Every range, framework op and frame that can lie around a wait, and their threads: few of the rows."""
    waits = context.waits
    if not context.near:
        kinds = code_bits((Kind.RANGE, Kind.CPU_OP, Kind.PYTHON))
        moments = waits.thread, waits.start, waits.end
        context.near.append(native.rows_near(context.trace, kinds, context.links.thread_rows, moments))
    return context.near[0]


def _innermost(context: Context, kinds: Kinds, kind: int) -> list[str | None]:
    """For each wait the name of the innermost row around it of those near it that are of that kind."""
    trace, waits = context.trace, context.waits
    near, thread = near_waits(context)
    found = native.innermost_rows(
        kinds,
        (thread, gather(trace.start_ns, near), gather(trace.end_ns, near)),
        kind,
        (waits.thread, waits.start, waits.end),
    )
    if bool((found < 0).all()):
        return [None] * found.size
    names = names_of(trace, near[np.maximum(found, 0)])
    return [name if row >= 0 else None for name, row in zip(names, found.tolist(), strict=True)]


def names_around(context: Context, thread: Ints, rows: Rows, kind: Kind) -> list[str | None]:
    """For each host call, by row and number of its thread, the name of the innermost row around it."""
    trace = context.trace
    if rows.size == 0:
        return []
    moments = thread, gather(trace.start_ns, rows), gather(trace.end_ns, rows)
    near, near_thread = native.rows_near(trace, code_bits((kind,)), context.links.thread_rows, moments)
    if near.size == 0:
        return [None] * rows.size
    around = near_thread, gather(trace.start_ns, near), gather(trace.end_ns, near)
    found = native.innermost_rows(trace.kind[near], around, kind, moments)
    names = names_of(trace, near[np.maximum(found, 0)])
    return [name if row >= 0 else None for name, row in zip(names, found.tolist(), strict=True)]


def names_of(trace: Trace, rows: Numbers) -> list[str]:
    """The name of each row, empty where it has none."""
    codes, which = np.unique(trace.name[rows], return_inverse=True)
    names = np.array([trace.names[code] if code >= 0 else "" for code in codes.tolist()], object)
    return list(names[which].tolist())


def relative_start_ns(context: Context) -> int:
    """The trace's first moment, which tables count from."""
    return int(context.trace.start_ns[0]) if len(context.trace) else 0
