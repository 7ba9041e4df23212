"""Where viewers show each row of a trace: under which device or process, on which line and lane of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, Mask
from overlap_lab.export.ids import Ids
from overlap_lab.export.lanes import lanes_of_nested, lanes_of_spans
from overlap_lab.schema import ABSENT, DEVICE_KINDS, Kind
from overlap_lab.trace import Trace

__all__ = ["ON_DEVICE", "Line", "Places", "places_of"]

ON_DEVICE: Final = (*DEVICE_KINDS, Kind.SYNC, Kind.DEVICE_RANGE)
"""What is shown under a device: its ops, and what tools note beside them."""
_WORDS: Final = {
    Kind.API: "calls",
    Kind.KERNEL: "ops",
    Kind.SYNC: "waited for",
    Kind.RANGE: "ranges",
    Kind.CPU_OP: "framework ops",
    Kind.PYTHON: "Python",
    Kind.DEVICE_RANGE: "ranges",
    Kind.OVERHEAD: "profiler",
}


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """What a stream ran or a thread did, of one kind; all ops are one kind."""

    on_device: bool
    owner: int
    """The number of the device or process."""
    number: int
    """The number of the stream or thread; may be absent."""
    name: str
    is_ops: bool
    lanes: tuple[Ints, ...]
    """The rows of each lane: no two overlap that are not within each other; ops never overlap."""

    def lane_name(self, lane: int) -> str:
        return f"{self.name}, lane {lane + 1}" if lane else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """One entry for each row of the trace."""

    trace: Trace
    on_device: Mask
    owner: Ints
    """The device of a row on a device, the process of another."""
    number: Ints
    """The stream of a row on a device, the thread of another."""

    def lines(self, *, hosts: bool) -> list[Line]:
        """Those of devices, after those of `hosts` where they are asked for, by owner and number."""
        kind = np.where(np.isin(self.trace.kind, DEVICE_KINDS), np.uint8(Kind.KERNEL), self.trace.kind)
        rows = np.arange(len(self.trace)) if hosts else np.flatnonzero(self.on_device)
        keys = (self.on_device.astype(np.int64), self.owner, self.number, kind.astype(np.int64))
        return [self._line(mine, Kind(int(kind[mine[0]]))) for mine in _groups(rows, *keys)]

    def crossing(self) -> list[tuple[Ints, int]]:
        """Rows of a thread that begin inside another one of it and end after it, by further lane."""
        rows = np.flatnonzero(~self.on_device)
        found = []
        for mine in _groups(rows, self.owner, self.number):
            lane = lanes_of_nested(self.trace.start_ns[mine], self.trace.end_ns[mine])
            found += [(part, at) for at, part in enumerate(_by_lane(mine, lane)) if at]
        return found

    def _line(self, rows: Ints, kind: Kind) -> Line:
        first = rows[0]
        on_device, number = bool(self.on_device[first]), int(self.number[first])
        where = "" if number == ABSENT else f"{'stream' if on_device else 'thread'} {number}: "
        is_ops = kind == Kind.KERNEL
        lane_of = lanes_of_spans if is_ops else lanes_of_nested
        lane = lane_of(self.trace.start_ns[rows], self.trace.end_ns[rows])
        lanes = tuple(_by_lane(rows, lane))
        return Line(on_device, int(self.owner[first]), number, where + _WORDS[kind], is_ops, lanes)


def places_of(trace: Trace, ids: Ids) -> Places:
    """The places by the processes' numbers in the file that is written."""
    on_device = np.isin(trace.kind, ON_DEVICE)
    return Places(
        trace,
        on_device,
        owner=np.where(on_device, trace.device.astype(np.int64), ids.process),
        number=np.where(on_device, trace.stream, trace.thread),
    )


def _by_lane(rows: Ints, lane: Ints) -> list[Ints]:
    """The rows of each lane, in order; none of the lanes up to the last is empty."""
    if not lane.any():
        return [rows]
    order = np.argsort(lane, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(lane[order])) + 1)


def _groups(rows: Ints, *keys: Ints) -> list[Ints]:
    """The rows with equal keys, each in order."""
    if not rows.size:
        return []
    columns = [key[rows] for key in keys]
    order = np.lexsort(columns[::-1])
    changes = np.zeros(order.size - 1, bool)
    for column in columns:
        ordered = column[order]
        changes |= ordered[1:] != ordered[:-1]
    return np.split(rows[order], np.flatnonzero(changes) + 1)
