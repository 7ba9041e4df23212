"""Device ops as columns, grouped by process, device and stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Numbers, Rows, dense_codes, gather, order
from overlap_lab.intervals import Intervals
from overlap_lab.link import Link
from overlap_lab.metrics.opset import OpSet
from overlap_lab.schema import ABSENT_DEVICE, ABSENT_PROCESS, Api
from overlap_lab.trace import Trace

__all__ = ["Groups", "Lane", "Ops", "device_lanes", "grouped", "lane_of", "ops_of"]

Lent = tuple[Ints, Ints, Ints, Ints, Rows, Rows, Rows, Rows | None, int]
_Key = tuple[int, int, int]
"""(owner, device, stream)"""


_NOWHERE: Final = np.zeros(0, np.int64)
_FEW: Final = 16
"""A part of all ops this small is sorted, not picked from all: there can be thousands of such parts."""


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """The numbers of places by what they have in common."""

    groups: list[Rows]
    """The ops of each place."""
    of_owner: dict[tuple[int, int], dict[int, int]]
    """By (owner, device) and stream."""
    of_nobody: dict[tuple[int, int], dict[int, int]]
    """Those whose process nobody knows, by (part, device) and stream."""


@dataclass(frozen=True, slots=True, eq=False)
class Ops:
    """Entry i of every array is op i of the link; sets of ops are made on demand and kept."""

    start: Ints
    end: Ints
    enqueue: Ints
    links: Link
    place_owner: Ints
    """Dense number of the (part, process) of each place."""
    thread_owner: Ints
    """The same of each thread."""
    unowned: dict[int, Rows]
    """Owner -> ops of its part whose process nobody knows; they belong to every process of the part."""
    streams: dict[tuple[int, int], tuple[int, ...]]
    """(owner, device) -> its streams."""
    index: dict[_Key, Rows]
    """(owner, device, stream) -> ops."""
    places: _Places
    sets: dict[tuple[int, int, int | None], OpSet] = field(default_factory=dict)
    made: dict[tuple[int, int, int], list[tuple[Rows, OpSet]]] = field(default_factory=dict)
    """Every set with its ops, by how many these are, the first, and the last one."""

    def lent(self, lane: Lane) -> Lent:
        """The columns that the core asks for about the ops of a device."""
        links, whole = self.links, lane.index.size == self.start.size
        index = None if whole else lane.index
        return (
            *(self.start, self.end, self.enqueue, links.start, links.caller, links.place),
            *(links.host, index, int(Api.GRAPH_LAUNCH)),
        )

    def set_of(self, index: Rows) -> OpSet:
        """The set of some ops, given in order; the one that is there already where they are the same."""
        if index.size == 0:
            return OpSet.of(index, self.enqueue, self.end)
        alike = self.made.setdefault((index.size, int(index[0]), int(index[-1])), [])
        for known, made in alike:
            if known is index or np.array_equal(known, index):
                return made
        alike.append((index, OpSet.of(index, self.enqueue, self.end)))
        return alike[-1][1]

    def call_owner(self, calls: Numbers) -> Ints:
        """Dense number of the (part, process) of host calls, by their own process."""
        return gather(self.thread_owner, gather(self.links.host_thread, calls))

    def owner(self, ops: Numbers) -> Ints:
        """The same of ops."""
        return gather(self.place_owner, gather(self.links.place, ops))

    def device(self, ops: Numbers) -> Ints:
        """Device of each op asked for."""
        return gather(self.links.places.device, gather(self.links.place, ops))

    def stream(self, ops: Numbers) -> Ints:
        """Stream of each op asked for."""
        return gather(self.links.places.stream, gather(self.links.place, ops))

    def of_stream(self, owner: int, device: int, stream: int) -> OpSet:
        """Ops of one stream of one process."""
        key = (owner, device, stream)
        if key not in self.sets:
            self.sets[key] = self.set_of(self._members(owner, device, stream))
        return self.sets[key]

    def of_device(self, owner: int, device: int) -> OpSet:
        """Ops of one process on one device."""
        key = (owner, device, None)
        if key not in self.sets:
            self.sets[key] = self.set_of(self._members(owner, device, None))
        return self.sets[key]

    def _members(self, owner: int, device: int, stream: int | None) -> Rows:
        """Ops of one stream of a process on a device, or of all streams, those that may be its own too."""
        found = [self.places.of_owner.get((owner, device), {})]
        loose = self.unowned.get(owner)
        if loose is not None:
            part = int(self.links.trace.part[self.links.op[loose[0]]])
            found.append(self.places.of_nobody.get((part, device), {}))
        if stream is None:
            return self.of_places([place for by_stream in found for place in by_stream.values()])
        return self.of_places([by_stream[stream] for by_stream in found if stream in by_stream])

    def of_places(self, wanted: list[int]) -> Rows:
        """The ops of some places, in order."""
        places = self.place_owner.size
        if len(wanted) == places:
            return every(self.start.size)
        groups = [self.places.groups[place] for place in wanted]
        if len(groups) == 1:
            return groups[0]
        size = sum(group.size for group in groups)
        if _FEW * size < self.start.size:
            return np.sort(np.concatenate([np.zeros(0, np.int32), *groups]))
        flags = np.zeros(places, np.uint8)
        flags[wanted] = 1
        return native.flagged_rows(self.links.place, flags)


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Ops that run on one device, of every process, or on one stream, and when they kept it busy."""

    index: Rows
    """The ops among all ops of the trace."""
    ops: OpSet
    busy: Intervals
    first: int
    """Start of the first op: the default window's begin."""
    last: int
    """End of the last op."""
    gap_start: Ints
    gap_end: Ints
    next_op: Rows
    """Per gap the op (among all ops) that ends it, the longest where several start at once."""
    previous_op: Rows
    """Per gap the op whose end opens it, the last enqueued where several end at once."""


def ops_of(trace: Trace, links: Link) -> Ops:
    """Columns and groups of the device ops of a linked trace."""
    same_start, same_end = trace.start_ns is links.trace.start_ns, trace.end_ns is links.trace.end_ns
    place_owner, thread_owner = _owners(trace, links)
    places = links.places
    keys = list(zip(place_owner.tolist(), places.device.tolist(), places.stream.tolist(), strict=True))
    groups = _groups(links.place, len(keys))
    streams: dict[tuple[int, int], dict[int, None]] = {}
    for owner, device, stream in keys:
        streams.setdefault((owner, device), {})[stream] = None
    unowned = _unowned(trace, links, thread_owner)
    _add_loose_streams(streams, unowned, links)
    return Ops(
        start=links.start if same_start else gather(trace.start_ns, links.op),
        end=links.end if same_end else gather(trace.end_ns, links.op),
        enqueue=links.enqueue,
        links=links,
        place_owner=place_owner,
        thread_owner=thread_owner,
        unowned=unowned,
        streams={place: tuple(found) for place, found in streams.items()},
        index=dict(zip(keys, groups, strict=True)),
        places=_placed(links, place_owner, groups),
    )


def _placed(links: Link, place_owner: Ints, groups: list[Rows]) -> _Places:
    places = links.places
    of_owner: dict[tuple[int, int], dict[int, int]] = {}
    of_nobody: dict[tuple[int, int], dict[int, int]] = {}
    rows = zip(*(column.tolist() for column in (place_owner, *places.columns)), strict=True)
    for place, (owner, part, process, device, stream) in enumerate(rows):
        of_owner.setdefault((owner, device), {})[stream] = place
        if process == ABSENT_PROCESS:
            of_nobody.setdefault((part, device), {})[stream] = place
    return _Places(groups, of_owner, of_nobody)


def every(size: int) -> Rows:
    """So many ops, in order."""
    return np.arange(size, dtype=np.int32)


def _owners(trace: Trace, links: Link) -> tuple[Ints, Ints]:
    """Dense number of (part, process), of each place and of each thread."""
    rows = links.thread_rows
    part = np.concatenate((links.places.part, trace.part[rows]))
    process = np.concatenate((links.places.process, trace.process[rows]))
    codes = dense_codes(part, process)
    return codes[: links.places.part.size], codes[links.places.part.size :]


def _groups(code: Rows, count: int) -> list[Rows]:
    """The positions of each code below `count`, in order."""
    if count == 1:
        return [every(code.size)]
    by_code, edges = native.group_rows(code, count)
    return [by_code[begin:end] for begin, end in pairwise(edges)]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The positions of each code, to be asked for one by one."""

    positions: dict[int, Ints]

    @classmethod
    def of_codes(cls, code: Numbers) -> Groups:
        """Groups of equal codes."""
        members = grouped(code)
        return cls({int(code[mine[0]]): mine for mine in members})

    def of(self, codes: Iterable[int]) -> Ints:
        """The positions of some codes, in order."""
        found = [self.positions[code] for code in codes if code in self.positions]
        return found[0] if len(found) == 1 else np.sort(np.concatenate([_NOWHERE, *found]))


def grouped(code: Numbers) -> list[Ints]:
    """The positions of each code, in order."""
    by_code = order(code)
    edges = np.flatnonzero(np.diff(gather(code, by_code))) + 1
    return np.split(by_code, edges) if by_code.size else []


def _unowned(trace: Trace, links: Link, thread_owner: Ints) -> dict[int, Rows]:
    places, rows = links.places, links.thread_rows
    unknown = places.process == ABSENT_PROCESS
    result: dict[int, Rows] = {}
    for part in np.unique(places.part[unknown]).tolist():
        flags = unknown & (places.part == part)
        mine = native.flagged_rows(links.place, flags.view(np.uint8))
        known = (trace.part[rows] == part) & (trace.process[rows] != ABSENT_PROCESS)
        result |= dict.fromkeys(np.unique(thread_owner[known]).tolist(), mine)
    return result


def _add_loose_streams(
    streams: dict[tuple[int, int], dict[int, None]], unowned: dict[int, Rows], links: Link
) -> None:
    for owner, loose in unowned.items():
        places = np.unique(links.place[loose])
        device, stream = links.places.device[places].tolist(), links.places.stream[places].tolist()
        for place, one in sorted(set(zip(device, stream, strict=True))):
            streams.setdefault((owner, place), {})[one] = None


def device_lanes(ops: Ops) -> dict[int, Lane]:
    """Per device number, sorted, what ran there. Ops without a known device are one device, ABSENT_DEVICE,
    where nothing else is known; beside known devices they belong to none."""
    places: dict[int, list[int]] = {}
    for place, number in enumerate(ops.links.places.device.tolist()):
        places.setdefault(number, []).append(place)
    if len(places) > 1:
        places.pop(ABSENT_DEVICE, None)
    return {number: lane_of(ops, ops.of_places(mine)) for number, mine in sorted(places.items())}


def lane_of(ops: Ops, index: Rows) -> Lane:
    """The lane of one or more ops."""
    chosen = None if index.size == ops.start.size else index
    edge_start, edge_end, next_op, previous_op = native.lane_edges(ops.start, ops.end, ops.enqueue, chosen)
    # Ops of zero length keep nothing busy, so they neither open nor end a gap, but at the edges.
    first, last = int(edge_end[0] <= edge_start[0]), edge_start.size - int(edge_end[-1] <= edge_start[-1])
    return Lane(
        index=index,
        ops=ops.set_of(index),
        busy=(edge_end[:-1], edge_start[1:]),
        first=int(edge_start[0]),
        last=int(edge_end[-1]),
        gap_start=edge_start[first:last],
        gap_end=edge_end[first:last],
        next_op=next_op,
        previous_op=previous_op,
    )
