"""Device ops as columns, grouped by process, device and stream."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import (
    Ints,
    Numbers,
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    order,
    rises,
)
from overlap_lab.intervals import Intervals, spread, union
from overlap_lab.link import Link
from overlap_lab.metrics.opset import OpSet
from overlap_lab.schema import ABSENT_DEVICE, ABSENT_PROCESS
from overlap_lab.trace import Trace

__all__ = ["DeviceLane", "Lane", "Ops", "device_lanes", "grouped", "lane_of", "ops_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Ops:
    """Entry i of every array is op i of the link; sets of ops are made on demand and kept."""

    start: Ints
    end: Ints
    enqueue: Ints
    enqueue_end: Ints
    owner: Ints
    """Dense number of the op's (part, process)."""
    thread: npt.NDArray[np.int32]
    """Thread of every row of the trace."""
    thread_owner: Ints
    """The same as `owner` for each thread."""
    unowned: dict[int, Ints]
    """Owner -> ops of its part whose process nobody knows; they belong to every process of the part."""
    device: Ints
    stream: Ints
    streams: dict[tuple[int, int], tuple[int, ...]]
    """(owner, device) -> its streams."""
    index: dict[tuple[int, int, int], Ints]
    """(owner, device, stream) -> ops."""
    sets: dict[tuple[int, int, int | None], OpSet] = field(default_factory=dict)
    made: dict[tuple[int, int, int], list[tuple[Ints, OpSet]]] = field(default_factory=dict)
    """Every set with its ops, by how many these are, the first, and the last one."""

    def set_of(self, index: Ints) -> OpSet:
        """The set of some ops, given in order; the one that is there already where they are the same."""
        if index.size == 0:
            return OpSet.of(index, self.enqueue, self.end)
        alike = self.made.setdefault((index.size, int(index[0]), int(index[-1])), [])
        for known, made in alike:
            if np.array_equal(known, index):
                return made
        alike.append((index, OpSet.of(index, self.enqueue, self.end)))
        return alike[-1][1]

    def row_owner(self, rows: Ints) -> Ints:
        """Dense number of the (part, process) of rows of the trace, by their own process."""
        if not self.thread_owner.any():
            return np.zeros(rows.size, np.int64)
        return gather(self.thread_owner, gather(self.thread, rows))

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

    def _members(self, owner: int, device: int, streams: tuple[int, ...]) -> Ints:
        found = [self.index[(owner, device, s)] for s in streams if (owner, device, s) in self.index]
        loose = self.unowned.get(owner)
        if loose is not None:
            matches = (self.device[loose] == device) & np.isin(self.stream[loose], streams)
            found.append(loose[matches])
        if len(found) == 1:
            return found[0]
        if sum(each.size for each in found) == self.start.size:
            return np.arange(self.start.size)
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Ops that run on one device, of every process, or on one stream, and when they kept it busy."""

    index: Ints
    """The ops among all ops of the trace."""
    ops: OpSet
    busy: Intervals
    first: int
    """Start of the first op: the default window's begin."""
    last: int
    """End of the last op."""
    gap_start: Ints
    gap_end: Ints
    columns: tuple[Ints, Ints, Ints]
    """Start, end and enqueue start of the lane's ops."""

    def ops_after(self, gap: Ints) -> Ints:
        """Per gap asked for the op (among all ops) that ends it, the longest where several start at once."""
        return gather(self.index, _first_to_start(*self.columns, self.gap_end[gap]))


@dataclass(frozen=True, slots=True, eq=False)
class DeviceLane(Lane):
    """A lane of which the ops around every gap are known."""

    next_op: Ints
    """Per gap what `ops_after` gives."""
    previous_op: Ints
    """Per gap the op whose end opens it, the last enqueued where several end at once."""

    def ops_after(self, gap: Ints) -> Ints:
        """As for any lane, from what is known."""
        return gather(self.next_op, gap)


def ops_of(trace: Trace, links: Link) -> Ops:
    """Columns and groups of the device ops of a linked trace."""
    owner, thread_owner = _owners(trace, links)
    index: dict[tuple[int, int, int], Ints] = {}
    streams: dict[tuple[int, int], dict[int, None]] = {}
    for members in grouped(dense_codes(owner, links.device, links.stream)):
        who, device, stream = (int(each[members[0]]) for each in (owner, links.device, links.stream))
        index[(who, device, stream)] = members
        streams.setdefault((who, device), {})[stream] = None
    unowned = _unowned(trace, links, thread_owner)
    _add_loose_streams(streams, unowned, links)
    return Ops(
        start=gather(trace.start_ns, links.op),
        end=gather(trace.end_ns, links.op),
        enqueue=links.enqueue_start_ns,
        enqueue_end=links.enqueue_end_ns,
        owner=owner,
        thread=links.thread,
        thread_owner=thread_owner,
        unowned=unowned,
        device=links.device,
        stream=links.stream,
        streams={place: tuple(found) for place, found in streams.items()},
        index=index,
    )


def _owners(trace: Trace, links: Link) -> tuple[Ints, Ints]:
    """Dense number of (part, process), of each op and of each thread."""
    rows = links.thread_rows
    if rows.size and bool((trace.part[rows] == trace.part[rows[0]]).all()):
        process = trace.process[rows]
        if bool((process == process[0]).all()) and bool((links.process == process[0]).all()):
            return np.zeros(links.op.size, np.int64), np.zeros(rows.size, np.int64)
    part = trace.part[np.concatenate((links.op, rows))]
    codes = dense_codes(part, np.concatenate((links.process, trace.process[rows])))
    return codes[: links.op.size], codes[links.op.size :]


def grouped(code: Numbers) -> list[Ints]:
    """The positions of each code, in order."""
    by_code = order(code)
    edges = np.flatnonzero(np.diff(gather(code, by_code))) + 1
    return np.split(by_code, edges) if by_code.size else []


def _unowned(trace: Trace, links: Link, thread_owner: Ints) -> dict[int, Ints]:
    loose = np.flatnonzero(links.process == ABSENT_PROCESS)
    result: dict[int, Ints] = {}
    for part in np.unique(trace.part[links.op[loose]]).tolist():
        mine = loose[trace.part[links.op[loose]] == part]
        host = links.host[trace.part[links.host] == part]
        host = host[trace.process[host] != ABSENT_PROCESS]
        result |= dict.fromkeys(np.unique(thread_owner[links.thread[host]]).tolist(), mine)
    return result


def _add_loose_streams(
    streams: dict[tuple[int, int], dict[int, None]], unowned: dict[int, Ints], links: Link
) -> None:
    for owner, loose in unowned.items():
        pairs = set(zip(links.device[loose].tolist(), links.stream[loose].tolist(), strict=True))
        for device, stream in sorted(pairs):
            streams.setdefault((owner, device), {})[stream] = None


def device_lanes(ops: Ops) -> dict[int, DeviceLane]:
    """Per device number, sorted, what ran there. Ops without a known device are one device, ABSENT_DEVICE,
    where nothing else is known; beside known devices they belong to none."""
    numbers = ops.device[distinct(ops.device)].tolist()
    if len(numbers) > 1:
        numbers = [number for number in numbers if number != ABSENT_DEVICE]
    if len(numbers) == 1:
        return {numbers[0]: _device_lane(ops, np.arange(ops.device.size))}
    return {number: _device_lane(ops, np.flatnonzero(ops.device == number)) for number in numbers}


def _device_lane(ops: Ops, index: Ints) -> DeviceLane:
    lane = lane_of(ops, index)
    preceding = np.maximum(count_until(lane.ops.end, lane.gap_start) - 1, 0)
    return DeviceLane(
        **{each.name: getattr(lane, each.name) for each in fields(Lane)},
        next_op=gather(index, _first_to_start(*lane.columns, lane.gap_end)),
        previous_op=gather(lane.ops.by_end, preceding),
    )


def lane_of(ops: Ops, index: Ints) -> Lane:
    """The lane of one or more ops."""
    whole = index.size == ops.start.size
    start, end, enqueue = (
        each if whole else gather(each, index) for each in (ops.start, ops.end, ops.enqueue)
    )
    first, last = int(start.min()), int(end.max())
    busy = union(start, end)
    edge_start, edge_end = np.r_[first, busy[1]], np.r_[busy[0], last]
    real = edge_end > edge_start
    gap_start, gap_end = edge_start[real], edge_end[real]
    # Ops of zero length keep nothing busy, so they neither open nor end a gap of the union, but at the edges.
    return Lane(
        index=index,
        ops=ops.set_of(index),
        busy=busy,
        first=first,
        last=last,
        gap_start=gap_start,
        gap_end=gap_end,
        columns=(start, end, enqueue),
    )


def _first_to_start(start: Ints, end: Ints, enqueue: Ints, time: Ints) -> Ints:
    """For each time the first op to start then or later; of several at once the longest, then the first
    enqueued."""
    if not rises(start):
        by_start = order(start, end, enqueue, descending=0b010)
        at = count_before(gather(start, by_start), time)
        return gather(by_start, np.minimum(at, start.size - 1))
    first = np.minimum(count_before(start, time), start.size - 1)
    behind = count_until(start, time)
    tied = np.flatnonzero(behind - first > 1)
    if tied.size:
        which, at = spread(first[tied], behind[tied])
        best = order(which, end[at], enqueue[at], descending=0b010)
        leads = np.r_[True, which[best][1:] != which[best][:-1]]
        first[tied] = at[best[leads]]
    return first
