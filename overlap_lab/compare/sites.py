"""Which wait in the program the idle time after drains belongs to, in words that lead a person there."""

from __future__ import annotations

import hashlib
import re
from typing import Final

import numpy as np

from overlap_lab.intervals import Ints, clip
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.idle import idle_segments
from overlap_lab.metrics.places import around_waits, lines_around_waits
from overlap_lab.metrics.python_frames import frame_in
from overlap_lab.render.numbers import records
from overlap_lab.report import Column, Report
from overlap_lab.schema import Cause, Kind

__all__ = ["ELSEWHERE", "DrainedAt", "Sites", "site", "sites_of_report"]

Sites = dict[str, int]
"""Site -> ns of idle time that the drains of its waits cost."""

ELSEWHERE: Final = "other waits"
"""Idle time after drains whose wait is not told."""

_LONGEST: Final = 500
_DIGITS: Final = 8
_NUMBER: Final = re.compile(r"\d+")
_DRAIN: Final = CAUSES.index(Cause.DRAIN)


def site(call: str | None, op: str | None, frame: str | None, name: str | None) -> str:
    """The wait in words: the framework op, else the call, and the line of Python, else the range around it.

    Numbers in a range's name are left open: step 3 and step 4 are one place. At most 500 letters; of a longer
    place the start and digits that stand for all of it, so that no two places are one.

    >>> site("cudaStreamSynchronize", "aten::item", "runs/train.py(88): step", "ProfilerStep#3")
    'aten::item at train.py:88'
    >>> site("hipMemcpy", None, None, "backward layer 2")
    'hipMemcpy in backward layer *'
    """
    what = op or call or "a wait"
    place = frame_in(frame or "")
    if place:
        return _bounded(f"{what} at {place.file_name}:{place.line}")
    return _bounded(f"{what} in {_NUMBER.sub('*', name)}" if name else what)


def _bounded(place: str) -> str:
    if len(place) <= _LONGEST:
        return place
    digits = hashlib.sha256(place.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGITS]
    end = f"... ({digits})"
    return place[: _LONGEST - len(end)] + end


def sites_of_report(report: Report) -> Sites:
    """Idle time by site, from the drains that a report lists."""
    found: Sites = {}
    drains = report.tables.get("drains")
    if drains is None or Column("idle", "ns") not in drains.columns:
        return found
    for row in records(drains):
        words = [None if row.get(key) is None else str(row[key]) for key in ("call", "op", "frame", "range")]
        where = site(*words)
        found[where] = found.get(where, 0) + int(row.get("idle") or 0)
    return found


class DrainedAt:
    """Idle time by site within any window of one device of a trace; sites are looked up once."""

    def __init__(self, context: Context, device: int) -> None:
        drains = context.drains[device]
        ops, ranges = around_waits(context, Kind.CPU_OP), around_waits(context, Kind.RANGE)
        frames = lines_around_waits(context)
        named = [
            site(context.trace.name_of(int(context.waits.row[wait])), ops[wait], frames[wait], ranges[wait])
            for wait in drains.wait.tolist()
        ]
        self.names = (*dict.fromkeys(named), ELSEWHERE)
        number = {name: at for at, name in enumerate(self.names)}
        self._context, self._device = context, device
        gaps = context.devices[device].gap_start.size
        self._of_gap = np.full(gaps + 1, number[ELSEWHERE])  # the last entry is for time outside of all gaps
        self._of_gap[drains.gap] = [number[name] for name in named]

    def within(self, window: Window | None) -> Ints:
        """ns by site, in the order of `names`; they sum to `device/idle/drain` of the window."""
        segments = idle_segments(self._context.within(window), self._device)
        mine = segments.cause == _DRAIN
        start, end = clip(segments.start[mine], segments.end[mine], window)
        total = np.zeros(len(self.names), np.int64)
        np.add.at(total, self._of_gap[segments.gap[mine]], end - start)
        return total
