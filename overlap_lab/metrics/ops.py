"""Device ops as columns, grouped by process, device and stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Numbers, Rows, dense_codes, gather, order
from overlap_lab.intervals import Intervals
from overlap_lab.link import Link
from overlap_lab.metrics.opset import OpSet
from overlap_lab.schema import ABSENT_DEVICE, ABSENT_PROCESS, Api
from overlap_lab.trace import Trace

__all__ = ["Lane", "Ops", "device_lanes", "grouped", "lane_of", "ops_of"]

Lent = tuple[Ints, Ints, Ints, Ints, Rows, Rows, Rows, Rows | None, int]
_Key = tuple[int, int, int]
"""(owner, device, stream)"""


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
            self.sets[key] = self.set_of(self._members(owner, device, (stream,)))
        return self.sets[key]

    def of_device(self, owner: int, device: int) -> OpSet:
        """Ops of one process on one device."""
        key = (owner, device, None)
        if key not in self.sets:
            members = self._members(owner, device, self.streams.get((owner, device), ()))
            self.sets[key] = self.set_of(members)
        return self.sets[key]

    def _members(self, owner: int, device: int, streams: tuple[int, ...]) -> Rows:
        places = self.links.places
        wanted = (self.place_owner == owner) & (places.device == device) & np.isin(places.stream, streams)
        loose = self.unowned.get(owner)
        if loose is not None:
            part = self.links.trace.part[self.links.op[loose[0]]]
            lost = (places.process == ABSENT_PROCESS) & (places.part == part)
            wanted |= lost & (places.device == device) & np.isin(places.stream, streams)
        return self.of_places(wanted)

    def of_places(self, wanted: Mask) -> Rows:
        """The ops of some places."""
        if bool(wanted.all()):
            return every(self.start.size)
        return native.flagged_rows(self.links.place, wanted.view(np.uint8))


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
    index = dict(zip(keys, _groups(links.place, len(keys)), strict=True))
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
        index=index,
    )


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
    device = ops.links.places.device
    numbers = np.unique(device).tolist()
    if len(numbers) > 1:
        numbers = [number for number in numbers if number != ABSENT_DEVICE]
    return {number: lane_of(ops, ops.of_places(device == number)) for number in numbers}


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
