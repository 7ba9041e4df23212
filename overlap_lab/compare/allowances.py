"""Which calls an allowance takes out of every rule: by what is around them, however far out it lies."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Rows, code_bits, gather
from overlap_lab.compare.budget import Allowance
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.schema import Kind
from overlap_lab.trace import Column, Trace

__all__ = ["AllowedCalls", "names_frame"]


def names_frame(pattern: str, name: str) -> bool:
    """Whether a pattern names a Python frame: as the trace spells it, by function, or as FILE or FILE:LINE,
    with as many folders as one likes.

    >>> frame = "/runs/a/train.py(88): step"
    >>> [names_frame(pattern, frame) for pattern in ("step", "train.py:88", "a/train.py", "rain.py")]
    [True, True, True, False]
    """
    if fnmatch.fnmatchcase(name, pattern):
        return True
    frame = frame_in(name)
    if frame is None:
        return False
    file, wanted = "/" + frame.file.replace("\\", "/").lstrip("/"), "*/" + pattern.lstrip("/")
    places = (file, f"{file}:{frame.line}")
    return fnmatch.fnmatchcase(frame.function, pattern) or any(
        fnmatch.fnmatchcase(place, wanted) for place in places
    )


class AllowedCalls:
    """Some calls of a trace, and which of them an allowance takes."""

    def __init__(self, context: Context, row: Rows | Ints, thread: Rows | Ints) -> None:
        """`thread` is the number of each call's thread, as the links count them."""
        trace = context.trace
        self._context, self._row = context, row
        self._moments = (
            np.asarray(thread, np.int64),
            np.asarray(gather(trace.start_ns, row), np.int64),
            np.asarray(gather(trace.end_ns, row), np.int64),
        )
        kinds = code_bits((Kind.CPU_OP, Kind.PYTHON))
        self._near, self._near_thread = native.rows_near(
            trace, kinds, context.links.thread_rows, self._moments
        )

    def by(self, allowance: Allowance) -> Mask:
        """Per call whether it is allowed: it, any op or any frame around it is called so, and it began in any
        range of its process that is called so."""
        found = self._called(allowance.call) | self._around(allowance.call)
        if allowance.range_name is not None:
            found &= self._inside(allowance.range_name)
        return found

    def by_any(self, allowances: Sequence[Allowance]) -> Mask:
        """Per call whether any of the allowances takes it."""
        found = np.zeros(self._row.size, np.bool_)
        for one in allowances:
            found |= self.by(one)
        return found

    def _called(self, pattern: str) -> Mask:
        trace = self._context.trace
        return _named(trace, gather(trace.name, self._row), lambda name: fnmatch.fnmatchcase(name, pattern))

    def _around(self, pattern: str) -> Mask:
        trace, near = self._context.trace, self._near
        kind, code = gather(trace.kind, near), gather(trace.name, near)
        named = (kind == Kind.CPU_OP) & _named(trace, code, lambda name: fnmatch.fnmatchcase(name, pattern))
        named |= (kind == Kind.PYTHON) & _named(trace, code, lambda name: names_frame(pattern, name))
        lanes = self._near_thread, gather(trace.start_ns, near), gather(trace.end_ns, near)
        return np.asarray(native.innermost_rows(named.view(np.uint8), lanes, 1, self._moments) >= 0)

    def _inside(self, pattern: str) -> Mask:
        """Calls that began in a range of that name, on whatever thread of their process: autograd makes those
        of a backward on a thread of its own, while the step stands on the main thread."""
        trace = self._context.trace
        ranges = np.flatnonzero(trace.kind == Kind.RANGE)
        code = gather(trace.name, ranges)
        ranges = ranges[_named(trace, code, lambda name: fnmatch.fnmatchcase(name, pattern))]
        found = np.zeros(self._row.size, np.bool_)
        place = np.stack([each[self._row].astype(np.int64) for each in (trace.part, trace.process)])
        for part, process in np.unique(place, axis=1).T.tolist():
            mine = ranges[(trace.part[ranges] == part) & (trace.process[ranges] == process)]
            if mine.size:
                asked = np.flatnonzero((place[0] == part) & (place[1] == process))
                found[asked] = _begins_in(self._moments[1][asked], trace.start_ns[mine], trace.end_ns[mine])
        return found


def _named(trace: Trace, code: Column, matches: Callable[[str], bool]) -> Mask:
    """Per name code whether that name matches; each distinct name is looked at once."""
    wanted = [one for one in np.unique(code).tolist() if one >= 0 and matches(trace.names[one])]
    return np.isin(code, wanted)


def _begins_in(moment: Ints, start: Ints, end: Ints) -> Mask:
    """Per moment whether it lies in one of the spans, which may overlap; their ends lie outside."""
    by_start = np.argsort(start, kind="stable")
    reach = np.r_[np.iinfo(np.int64).min, np.maximum.accumulate(end[by_start])]
    return np.asarray(reach[np.searchsorted(start[by_start], moment, side="right")] > moment)
