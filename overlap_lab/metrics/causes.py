"""Why a device was idle: every gap between its ops, split exactly among causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Rows,
    count_before,
    count_until,
    dense_codes,
    gather,
    in_order,
    is_one_of,
    order,
)
from overlap_lab.link import Link
from overlap_lab.metrics.floor import launch_floor
from overlap_lab.metrics.material import Material
from overlap_lab.metrics.settings import LAUNCH_CAP_FLOORS, LAUNCH_CAP_NS
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, LATEST_NS, Api, Cause

__all__ = ["CAUSES", "Pieces", "Segments", "causes_of", "late_pieces", "piece", "sorted_segments"]

CAUSES = tuple(Cause)
_SPLIT = (
    *(CAUSES.index(Cause.HOST_LATE), CAUSES.index(Cause.LAUNCH)),
    *(CAUSES.index(Cause.IN_CALL), CAUSES.index(Cause.DEPENDENCY)),
)


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Pieces of idle time, each with one cause, sorted by start; together they are the idle time."""

    start: Ints
    end: Ints
    cause: npt.NDArray[np.uint8]
    """Index into CAUSES."""
    gap: Rows
    """Index of the gap in the lane; -1 before the first op and after the last."""

    def totals(self) -> dict[Cause, int]:
        """Total length of each cause."""
        total = native.lengths_by_code(self.cause, self.start, self.end, len(CAUSES))
        return dict(zip(CAUSES, total, strict=True))


Pieces = tuple[Ints, Ints, npt.NDArray[np.uint8], Rows]


def causes_of(material: Material, device: int, drained: Ints, undecided: Ints) -> Segments:
    """The gaps of one device over the whole trace, by cause.

    `drained` and `undecided` are gaps, by index: those of its drains, and those whose cause depends on how
    far its clock is off.
    """
    lane, ops = material.devices[device], material.ops
    known = _known_causes(material, device, drained, undecided)
    gaps = lane.gap_start, lane.gap_end, lane.next_op, known
    cap_ns = _launch_cap(material, device)
    return Segments(*native.idle_pieces(material.trace, ops.lent(lane), gaps, _SPLIT, cap_ns))


def sorted_segments(pieces: list[Pieces]) -> Segments:
    """Segments of all pieces that are not empty, by start."""
    start, end, cause, gap = _joined(pieces)
    real = np.flatnonzero(end > start)
    by_start = real[order(gather(start, real))]
    return Segments(
        start=gather(start, by_start),
        end=gather(end, by_start),
        cause=gather(cause, by_start),
        gap=gather(gap, by_start),
    )


def piece(start: Ints, end: Ints, cause: Cause, gap: Rows | int) -> Pieces:
    return (
        start.astype(np.int64),
        end.astype(np.int64),
        np.full(start.size, CAUSES.index(cause), np.uint8),
        np.broadcast_to(np.asarray(gap, np.int32), start.shape),
    )


def _joined(pieces: list[Pieces]) -> Pieces:
    start, end, cause, gap = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return start, end, cause, gap


def _known_causes(material: Material, device: int, drained: Ints, undecided: Ints) -> npt.NDArray[np.uint8]:
    """Per gap the cause of all of it, plus 1, where it has one; 0 where the next op's enqueue call tells."""
    lane = material.devices[device]
    known = np.zeros(lane.gap_start.size, np.uint8)
    asked = material.links.calls_of(material.trace, (Api.HOST_FUNC,))
    if asked.size:
        behind = gather(material.ops.enqueue, lane.next_op) < lane.gap_start
        known[_behind_host_function(material, device, behind)] = CAUSES.index(Cause.HOST_FUNCTION) + 1
    known[drained] = CAUSES.index(Cause.DRAIN) + 1
    known[_records_missing(material, device)] = CAUSES.index(Cause.UNKNOWN) + 1
    known[undecided] = CAUSES.index(Cause.UNKNOWN) + 1
    return known


def _launch_cap(material: Material, device: int) -> int:
    """How long a launch can take: the time of a gap behind that has another cause."""
    floor = launch_floor(material, device, None) or 0
    return min(max(LAUNCH_CAP_FLOORS * floor, LAUNCH_CAP_NS), LATEST_NS)


def late_pieces(material: Material, device: int, start: Ints, op: Rows, gap: Rows) -> Pieces:
    """The parts of gaps whose next op was not enqueued when they began."""
    ops = material.ops
    end = gather(ops.start, op)
    enqueue = np.clip(gather(ops.enqueue, op), start, end)
    cap = _launch_cap(material, device)
    arrived = np.maximum(gather(ops.enqueue, op) + np.minimum(end - gather(ops.enqueue, op), cap), start)
    returned = np.clip(ops.links.returns(op), arrived, end)
    return _joined(
        [
            piece(start, enqueue, Cause.HOST_LATE, gap),
            piece(enqueue, arrived, Cause.LAUNCH, gap),
            piece(arrived, returned, Cause.IN_CALL, gap),
            piece(returned, end, Cause.DEPENDENCY, gap),
        ]
    )


def _records_missing(material: Material, device: int) -> Mask:
    """Gaps around which a launch lost its op: it began between the enqueue calls of the gap's two ops."""
    lane, ops, trace = material.devices[device], material.ops, material.trace
    missing = np.zeros(lane.gap_start.size, np.bool_)
    host, calls = material.links.host, material.lost_launches
    calls = calls[is_one_of(gather(trace.api, gather(host, calls)), (Api.LAUNCH, Api.GRAPH_LAUNCH))]
    if calls.size:
        calls = calls[_could_be_for(material, calls, device)]
    if calls.size == 0 or missing.size == 0:
        return missing
    start = in_order(gather(trace.start_ns, gather(host, calls)))
    after = count_until(start, gather(ops.enqueue, lane.previous_op))
    before = count_before(start, gather(ops.enqueue, lane.next_op))
    return np.asarray(before > after)


def _could_be_for(material: Material, calls: Rows, device: int) -> Mask:
    """Calls that name the device, or name none and come from a thread, else a process, that feeds it."""
    trace, feeds = material.trace, material.feeds
    named = gather(trace.device, gather(material.links.host, calls))
    thread, owner = gather(material.links.host_thread, calls), material.ops.call_owner(calls)
    of_thread = np.isin(thread, feeds.threads(device))
    feeds_nothing = ~np.isin(thread, list(feeds.by_thread))
    of_owner = feeds_nothing & np.isin(owner, feeds.owners(device))
    return np.asarray((named == device) | ((named == ABSENT_DEVICE) & (of_thread | of_owner)))


def _behind_host_function(material: Material, device: int, asked: Mask) -> Mask:
    """Gaps with a host-function launch between the enqueue calls of their two ops, on the next op's stream,
    or where a stream is unknown, on the thread that enqueued the next op."""
    trace, ops, links = material.trace, material.ops, material.links
    found = np.zeros(asked.size, np.bool_)
    calls = links.calls_of(trace, (Api.HOST_FUNC,))
    gaps = np.flatnonzero(asked)
    if calls.size == 0 or gaps.size == 0:
        return found
    lane, rows = material.devices[device], links.host[calls]
    op = lane.next_op[gaps]
    before = ops.enqueue[lane.previous_op[gaps]]
    start, until = trace.start_ns[rows], gather(ops.enqueue, op)
    stream, named = ops.stream(op), trace.stream[rows] != ABSENT
    on_stream = any_between(
        dense_codes(np.r_[ops.call_owner(calls), ops.owner(op)], np.r_[trace.stream[rows], stream]),
        start,
        before,
        until,
        counts=named,
    )
    thread = np.r_[links.host_thread[calls], _op_threads(links, op)].astype(np.int64)
    on_thread = any_between(thread, start, before, until, counts=~named)
    any_on_thread = any_between(thread, start, before, until, counts=np.ones(calls.size, np.bool_))
    found[gaps] = np.where(stream != ABSENT, on_stream | on_thread, any_on_thread)
    return found


def _op_threads(links: Link, op: Rows) -> Rows:
    """The thread that enqueued each op: that of its call, else the one that the file names."""
    caller = links.caller[op]
    thread = links.host_thread[np.maximum(caller, 0)]
    bare = np.flatnonzero(caller < 0)
    if bare.size:
        thread[bare] = links.row_threads()[links.op[op[bare]]]
    return thread


def any_between(group: Ints, point: Ints, after: Ints, before: Ints, *, counts: Mask) -> Mask:
    """For each query whether a counting point of its group lies strictly between `after` and `before`.

    `group` holds the points' groups, then the queries'.
    """
    times = np.sort(point[counts])
    base = group * (times.size + 1)
    keys = np.sort(base[: point.size][counts] + count_before(times, point[counts]))
    asked = base[point.size :]
    # Ranks among the points: those up to `after` are all below the rank of the first one behind it.
    low = count_before(keys, asked + count_until(times, after))
    high = count_before(keys, asked + count_before(times, before))
    return np.asarray(high > low)
