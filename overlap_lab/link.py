"""Which enqueue call made which device op, worked out once for a whole trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from overlap_lab.intervals import Ints, Mask, outermost, spread
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, ENQUEUE, NO_CORRELATION, Api
from overlap_lab.trace import Trace

__all__ = ["OWNERS", "Link", "dense_codes", "link", "owned_ops"]

OWNERS = tuple(api for api in ENQUEUE if api is not Api.HOST_FUNC)
"""Enqueue calls that own device ops; a host function leaves no device record."""

_NO_IDS = (NO_CORRELATION, np.iinfo(np.uint64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Device ops with their enqueue calls; entry i of every array is op i, in row order.

    An op without a call has its own row as `call`: it counts as enqueued at its own start.
    """

    op: Ints
    """Row of the op."""
    call: Ints
    """Row of its enqueue call, or of the op itself where `linked` is False."""
    linked: Mask
    enqueue_start_ns: Ints
    enqueue_end_ns: Ints
    """Return of the call; the op's own start where it has none."""
    process: Ints
    """Process of the op: its own, else its call's, else the only one of its part, else ABSENT_PROCESS."""
    device: Ints
    """Device of the op: its own, else its call's, else the only one of the trace, else ABSENT_DEVICE."""
    stream: Ints
    """Stream of the op: its own, else its call's, else ABSENT."""
    captured: Mask
    """Per trace row: a host call made while its thread was capturing a stream; it owns nothing."""
    thread: Ints
    """Per trace row: dense number of (part, process, thread)."""
    outer: Ints
    """Per trace row: the outermost enqueue call around an enqueue call (maybe itself); the row for others."""


def link(trace: Trace) -> Link:
    """Pair every device op with the enqueue call that made it."""
    thread = dense_codes(trace.part, trace.process, trace.thread)
    captured = _captured(trace, thread)
    op = np.flatnonzero(trace.is_device)
    calls = np.flatnonzero(
        trace.is_host_call & np.isin(trace.api, OWNERS) & _has_id(trace.correlation) & ~captured
    )
    call = op.copy()
    linked = np.zeros(op.size, np.bool_)
    named = trace.process[op] != ABSENT_PROCESS
    for with_process in (True, False):
        mine = np.flatnonzero((named == with_process) & _has_id(trace.correlation[op]))
        found, rows = _pair(trace, calls, op[mine], with_process=with_process)
        call[mine[found]] = rows[found]
        linked[mine] = found
    start, end = trace.start_ns, trace.end_ns
    return Link(
        op=op,
        call=call,
        linked=linked,
        enqueue_start_ns=start[call],
        enqueue_end_ns=np.where(linked, end[call], start[op]),
        process=_process(trace, op, call),
        device=_device(trace, op, call),
        stream=_first_known(trace.stream[op], trace.stream[call], ABSENT),
        captured=captured,
        thread=thread,
        outer=_outer_enqueue(trace, thread),
    )


def dense_codes(*columns: npt.NDArray[Any]) -> Ints:
    """One small integer per distinct row of the columns, in the columns' lexical order."""
    code = np.zeros(columns[0].size, np.int64)
    for column in columns:
        if column.size and bool((column != column[0]).any()):
            values, inverse = np.unique(column, return_inverse=True)
            code = np.unique(code * values.size + inverse, return_inverse=True)[1].astype(np.int64)
    return code


def _has_id(correlation: npt.NDArray[Any]) -> Mask:
    return ~np.isin(correlation, _NO_IDS)


def _pair(trace: Trace, calls: Ints, ops: Ints, *, with_process: bool) -> tuple[Mask, Ints]:
    """For each op the latest call of its key that started before it, else the key's first call."""
    rows = np.r_[calls, ops]
    if calls.size == 0 or ops.size == 0:
        return np.zeros(ops.size, np.bool_), np.zeros(ops.size, np.int64)
    process = trace.process[rows] if with_process else np.zeros(rows.size, np.int64)
    key = dense_codes(trace.correlation[rows], trace.part[rows], process)
    is_call = np.arange(rows.size) < calls.size
    # At equal times the op sorts first: its call must have started before it.
    order = np.lexsort((is_call, trace.start_ns[rows], key))
    position = np.arange(order.size)
    latest = np.maximum.accumulate(np.where(is_call[order], position, -1))
    following = np.minimum.accumulate(np.where(is_call[order], position, order.size)[::-1])[::-1]
    ordered_key = key[order]
    before = (latest >= 0) & (ordered_key[np.maximum(latest, 0)] == ordered_key)
    after_at = np.minimum(following, order.size - 1)
    after = (following < order.size) & (ordered_key[after_at] == ordered_key)
    chosen = np.where(before, latest, after_at)
    found = np.zeros(rows.size, np.bool_)
    found[order] = before | after
    paired = np.zeros(rows.size, np.int64)
    paired[order] = rows[order[chosen]]
    return found[calls.size :], paired[calls.size :]


def _captured(trace: Trace, thread: Ints) -> Mask:
    """Host calls between a capture's begin and end on one thread; an open end reaches the file's edge."""
    inside = np.zeros(len(trace), np.bool_)
    is_begin, is_end = trace.api == Api.CAPTURE_BEGIN, trace.api == Api.CAPTURE_END
    marks = np.flatnonzero((is_begin | is_end) & trace.is_host_call)
    if marks.size == 0:
        return inside
    order = np.lexsort((np.arange(len(trace)), thread))
    ordered = thread[order]
    step = is_begin[order].astype(np.int64) - is_end[order]
    total = np.cumsum(step)
    first = np.searchsorted(ordered, ordered, side="left")
    base = np.where(first > 0, total[first - 1], 0)
    depth = total - base
    lowest = np.minimum.reduceat(depth, np.unique(first))
    opened_before = np.maximum(-lowest, 0)[np.unique(first, return_inverse=True)[1]]
    inside[order] = depth + opened_before > 0
    return np.asarray(inside & trace.is_host_call & ~is_begin & ~is_end)


def _first_known(own: npt.NDArray[Any], other: npt.NDArray[Any], absent: int) -> Ints:
    return np.where(own != absent, own, other).astype(np.int64)


def _process(trace: Trace, op: Ints, call: Ints) -> Ints:
    process = _first_known(trace.process[op], trace.process[call], ABSENT_PROCESS)
    unknown = process == ABSENT_PROCESS
    if unknown.any():
        for part in np.unique(trace.part[op[unknown]]):
            inside = (trace.part == part) & trace.is_host_call & (trace.process != ABSENT_PROCESS)
            present = np.unique(trace.process[inside])
            if present.size == 1:
                process[unknown & (trace.part[op] == part)] = present[0]
    return process


def _device(trace: Trace, op: Ints, call: Ints) -> Ints:
    device = _first_known(trace.device[op], trace.device[call], ABSENT_DEVICE)
    known = np.unique(device[device != ABSENT_DEVICE])
    if known.size == 1:
        device[:] = known[0]
    return device


def _outer_enqueue(trace: Trace, thread: Ints) -> Ints:
    outer = np.arange(len(trace))
    calls = np.flatnonzero(trace.is_host_call & np.isin(trace.api, OWNERS))
    outer[calls] = calls[outermost(thread[calls], trace.start_ns[calls], trace.end_ns[calls])]
    return outer


def owned_ops(links: Link, calls: Ints, among: Ints | None = None) -> tuple[Ints, Ints]:
    """Pairs (index into `calls`, index of op): ops of each call and of the enqueue calls nested in it.

    `among` are the linked ops to choose from, in the order in which a call's ops are to come; None is all,
    and then a call that encloses n others gives n times its ops.
    """
    owner = links.outer[links.call]
    order = np.flatnonzero(links.linked) if among is None else among
    order = order[np.argsort(owner[order], kind="stable")]
    wanted = links.outer[calls]
    first = np.searchsorted(owner[order], wanted, side="left")
    last = np.searchsorted(owner[order], wanted, side="right")
    which, at = spread(first, last)
    return which, order[at]
