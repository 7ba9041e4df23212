"""Device busy and idle, and every idle gap split exactly among its causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlap_lab.intervals import Ints, Mask, clip, length, subtract, union
from overlap_lab.link import dense_codes
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.run_ahead import launch_floor
from overlap_lab.metrics.settings import LAUNCH_CAP_FLOORS, LAUNCH_CAP_NS
from overlap_lab.quality import launches_without_op
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, Cause

__all__ = ["CAUSES", "Segments", "device_idle", "idle_segments"]

CAUSES = tuple(Cause)
Values = dict[str, int | float | None]


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Pieces of idle time, each with one cause, sorted by start; together they are the idle time."""

    start: Ints
    end: Ints
    cause: Ints
    """Index into CAUSES."""
    gap: Ints
    """Index of the gap in the lane; -1 before the first op and after the last."""

    def of(self, cause: Cause) -> int:
        """Total length of one cause."""
        mine = self.cause == CAUSES.index(cause)
        return int((self.end[mine] - self.start[mine]).sum())


def device_idle(context: Context, device: int) -> Values:
    """`device/*` values of one device."""
    first, last = context.window_of(device)
    busy = context.busy(device)
    window = union(np.array([first], np.int64), np.array([last], np.int64))
    segments = idle_segments(context, device)
    values: Values = {
        "device/busy": length(busy),
        "device/window": last - first,
        "device/idle": last - first - length(busy),
        "device/gaps": subtract(window, busy)[0].size,
    }
    return values | {f"device/idle/{cause}": segments.of(cause) for cause in Cause}


def idle_segments(context: Context, device: int) -> Segments:
    """The idle time of one device inside the window, by cause."""
    lane = context.devices[device]
    first, last = context.window_of(device)
    pieces = [_gap_pieces(context, device)]
    if first < lane.first:
        pieces.append(_lead_in(context, device, first))
    if last > lane.last:
        pieces.append(_piece(np.array([max(lane.last, first)]), np.array([last]), Cause.HOST_LATE, -1))
    start, end, cause, number = (np.concatenate(column) for column in zip(*pieces, strict=True))
    start, end = clip(start, end, (first, last))
    real = np.flatnonzero(end > start)
    order = real[np.argsort(start[real], kind="stable")]
    return Segments(start[order], end[order], cause[order], number[order])


Pieces = tuple[Ints, Ints, Ints, Ints]


def _piece(start: Ints, end: Ints, cause: Cause, gap: Ints | int) -> Pieces:
    return (
        start.astype(np.int64),
        end.astype(np.int64),
        np.full(start.size, CAUSES.index(cause), np.int64),
        np.broadcast_to(np.asarray(gap, np.int64), start.shape),
    )


def _joined(pieces: list[Pieces]) -> Pieces:
    start, end, cause, gap = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return start, end, cause, gap


def _gap_pieces(context: Context, device: int) -> Pieces:
    lane = context.devices[device]
    gap = np.arange(lane.gap_start.size)
    unknown = _records_missing(context, device)
    if context.undecided is not None and device in context.undecided:
        unknown[context.undecided[device]] = True
    drained = np.zeros(gap.size, np.bool_)
    drained[context.drains[device].gap] = True
    drained &= ~unknown
    enqueue = context.ops.enqueue[lane.next_op]
    rest = ~unknown & ~drained
    late = rest & (enqueue >= lane.gap_start)
    behind = rest & ~late
    called = behind & _behind_host_function(context, device, behind)
    whole = [
        _piece(lane.gap_start[mask], lane.gap_end[mask], cause, gap[mask])
        for mask, cause in (
            (unknown, Cause.UNKNOWN),
            (drained, Cause.DRAIN),
            (called, Cause.HOST_FUNCTION),
            (behind & ~called, Cause.DEPENDENCY),
        )
    ]
    split = _late_pieces(context, device, lane.gap_start[late], lane.next_op[late], gap[late])
    return _joined([*whole, split])


def _late_pieces(context: Context, device: int, start: Ints, op: Ints, gap: Ints) -> Pieces:
    """The parts of gaps whose next op was not enqueued when they began."""
    ops = context.ops
    end = ops.start[op]
    enqueue = np.clip(ops.enqueue[op], start, end)
    floor = launch_floor(context.within(None), device) or 0
    cap = max(LAUNCH_CAP_FLOORS * floor, LAUNCH_CAP_NS)
    arrived = np.minimum(end, np.maximum(ops.enqueue[op] + cap, start))
    returned = np.clip(ops.enqueue_end[op], arrived, end)
    return _joined(
        [
            _piece(start, enqueue, Cause.HOST_LATE, gap),
            _piece(enqueue, arrived, Cause.LAUNCH, gap),
            _piece(arrived, returned, Cause.IN_CALL, gap),
            _piece(returned, end, Cause.DEPENDENCY, gap),
        ]
    )


def _lead_in(context: Context, device: int, first: int) -> Pieces:
    """Idle time of a given window before the device's first op: the host had not enqueued anything yet."""
    lane = context.devices[device]
    of_first = lane.index[context.ops.start[lane.index] == lane.first]
    op = of_first[[np.argmin(context.ops.enqueue[of_first])]]
    begin = np.array([min(first, int(context.ops.enqueue[op[0]]))], np.int64)
    return _late_pieces(context, device, begin, op, np.array([-1]))


def _records_missing(context: Context, device: int) -> Mask:
    """Gaps around which a launch lost its op: it began between the enqueue calls of the gap's two ops."""
    lane, ops, trace, links = context.devices[device], context.ops, context.trace, context.links
    missing = np.zeros(lane.gap_start.size, np.bool_)
    rows = launches_without_op(trace, links)
    rows = rows[np.isin(trace.api[rows], (Api.LAUNCH, Api.GRAPH_LAUNCH))]
    rows = rows[_could_be_for(context, rows, device)]
    if rows.size == 0 or missing.size == 0:
        return missing
    start = np.sort(trace.start_ns[rows])
    one, other = ops.enqueue[lane.previous_op], ops.enqueue[lane.next_op]
    after = np.searchsorted(start, np.minimum(one, other), side="right")
    before = np.searchsorted(start, np.maximum(one, other), side="left")
    return np.asarray(before > after)


def _could_be_for(context: Context, rows: Ints, device: int) -> Mask:
    """Calls that name the device, or name none and come from a thread, else a process, that feeds it."""
    trace, feeds = context.trace, context.feeds
    named = trace.device[rows]
    feeders = {who for who, devices in feeds.by_thread.items() if device in devices}
    owners = {who for who, devices in feeds.by_owner.items() if device in devices}
    thread, owner = context.links.thread[rows], context.ops.row_owner[rows]
    of_thread = np.isin(thread, list(feeders))
    feeds_nothing = ~np.isin(thread, list(feeds.by_thread))
    of_owner = feeds_nothing & np.isin(owner, list(owners))
    return np.asarray((named == device) | ((named == ABSENT_DEVICE) & (of_thread | of_owner)))


def _behind_host_function(context: Context, device: int, asked: Mask) -> Mask:
    """Gaps whose next op was enqueued behind a host function: it lies between that op and the one before it
    in the stream's enqueue order; where no stream is known, between them on the thread that enqueued it."""
    trace, ops, links = context.trace, context.ops, context.links
    found = np.zeros(asked.size, np.bool_)
    calls = np.flatnonzero(trace.is_host_call & (trace.api == Api.HOST_FUNC) & ~links.captured)
    gaps = np.flatnonzero(asked)
    if calls.size == 0 or gaps.size == 0:
        return found
    lane = context.devices[device]
    op = lane.next_op[gaps]
    before = _enqueued_before(context, device, op, lane.previous_op[gaps])
    start, until = trace.start_ns[calls], ops.enqueue[op]
    named = trace.stream[calls] != ABSENT
    on_stream = any_between(
        dense_codes(np.r_[ops.row_owner[calls], ops.owner[op]], np.r_[trace.stream[calls], ops.stream[op]]),
        start,
        before,
        until,
        counts=named,
    )
    thread = np.r_[links.thread[calls], links.thread[links.call[op]]]
    on_thread = any_between(thread, start, before, until, counts=~named)
    any_on_thread = any_between(thread, start, before, until, counts=np.ones(calls.size, np.bool_))
    found[gaps] = np.where(ops.stream[op] != ABSENT, on_stream | on_thread, any_on_thread)
    return found


def any_between(group: Ints, point: Ints, after: Ints, before: Ints, *, counts: Mask) -> Mask:
    """For each query whether a counting point of its group lies strictly between `after` and `before`.

    `group` holds the points' groups, then the queries'.
    """
    times = np.unique(np.r_[point, after, before])
    base = group * (times.size + 1)
    keys = np.sort(base[: point.size][counts] + np.searchsorted(times, point[counts]))
    asked = base[point.size :]
    low = np.searchsorted(keys, asked + np.searchsorted(times, after), side="right")
    high = np.searchsorted(keys, asked + np.searchsorted(times, before), side="left")
    return np.asarray(high > low)


def _enqueued_before(context: Context, device: int, op: Ints, otherwise: Ints) -> Ints:
    """When the op ahead of each op in its stream was enqueued; `otherwise` stands in for the first ones."""
    ops = context.ops
    index = context.devices[device].index
    order = index[np.lexsort((ops.start[index], ops.enqueue[index], ops.stream[index], ops.owner[index]))]
    position = np.empty(ops.start.size, np.int64)
    position[order] = np.arange(order.size)
    at = position[op]
    ahead = order[np.maximum(at - 1, 0)]
    same = (at > 0) & (ops.stream[ahead] == ops.stream[op]) & (ops.owner[ahead] == ops.owner[op])
    return ops.enqueue[np.where(same, ahead, otherwise)]
