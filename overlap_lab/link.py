"""Which enqueue call made which device op, worked out once for a whole trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import (
    Ints,
    Mask,
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    is_one_of,
    order,
    rows_of,
)
from overlap_lab.intervals import outermost, spread
from overlap_lab.native import calls_of_ops
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    DEVICE_KINDS,
    ENQUEUE,
    NO_CORRELATION,
    Api,
    Kind,
)
from overlap_lab.trace import Trace

__all__ = ["OWNERS", "Link", "link", "owned_ops"]

OWNERS = tuple(api for api in ENQUEUE if api is not Api.HOST_FUNC)
"""Enqueue calls that own device ops; a host function leaves no device record."""

_NO_IDS = (NO_CORRELATION, np.iinfo(np.uint64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Device ops with their enqueue calls; entry i of every array is op i, in row order.

    An op without a call has its own row as `call`: it counts as enqueued at its own start.
    """

    host: Ints
    """Rows of all host calls, in row order."""
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
    thread: npt.NDArray[np.int32]
    """Per trace row: dense number of (part, process, thread)."""
    thread_rows: Ints
    """The first row of each thread."""
    outer: npt.NDArray[np.int32]
    """Per trace row: the outermost enqueue call around an enqueue call (maybe itself); the row for others."""
    owns: Mask
    """Per trace row: an outermost enqueue call that is, or has in it, the call of an op."""


def link(trace: Trace) -> Link:
    """Pair every device op with the enqueue call that made it."""
    thread = dense_codes(trace.part, trace.process, trace.thread).astype(np.int32)
    host = rows_of(trace.kind, (Kind.API,))
    captured = _captured(trace, host, thread)
    op = rows_of(trace.kind, DEVICE_KINDS)
    enqueue = host[is_one_of(gather(trace.api, host), OWNERS)]
    calls = enqueue[_has_id(gather(trace.correlation, enqueue)) & ~captured[enqueue]]
    call = op.copy()
    linked = np.zeros(op.size, np.bool_)
    named = gather(trace.process, op) != ABSENT_PROCESS
    has_id = _has_id(gather(trace.correlation, op))
    for with_process in (True, False):
        mine = np.flatnonzero((named == with_process) & has_id)
        rows = _pair(trace, calls, op[mine], with_process=with_process)
        found = rows >= 0
        call[mine[found]] = rows[found]
        linked[mine] = found
    outer = _outer_enqueue(trace, enqueue, thread)
    owns = np.zeros(len(trace), np.bool_)
    owns[outer[call[linked]]] = True
    start, end = trace.start_ns, trace.end_ns
    return Link(
        host=host,
        op=op,
        call=call,
        linked=linked,
        enqueue_start_ns=gather(start, call),
        enqueue_end_ns=np.where(linked, gather(end, call), gather(start, op)),
        process=_process(trace, host, op, call),
        device=_device(trace, op, call),
        stream=_first_known(trace.stream, op, call, ABSENT),
        captured=captured,
        thread=thread,
        thread_rows=distinct(thread),
        outer=outer,
        owns=owns,
    )


def _has_id(correlation: npt.NDArray[Any]) -> Mask:
    return np.asarray((correlation != _NO_IDS[0]) & (correlation != _NO_IDS[1]))


def _pair(trace: Trace, calls: Ints, ops: Ints, *, with_process: bool) -> Ints:
    """For each op the latest call of its key that started before it, else the key's first call, else -1."""
    if calls.size == 0 or ops.size == 0:
        return np.full(ops.size, -1, np.int64)
    keys = [trace.correlation, trace.part, *([trace.process] if with_process else [])]
    return calls_of_ops(keys, trace.start_ns, np.concatenate((calls, ops)), calls.size)


def _captured(trace: Trace, host: Ints, thread: npt.NDArray[np.int32]) -> Mask:
    """Host calls between a capture's begin and end on one thread; an open end reaches the file's edge."""
    if not is_one_of(gather(trace.api, host), (Api.CAPTURE_BEGIN, Api.CAPTURE_END)).any():
        return np.broadcast_to(np.False_, len(trace))
    inside = np.zeros(len(trace), np.bool_)
    is_begin, is_end = trace.api == Api.CAPTURE_BEGIN, trace.api == Api.CAPTURE_END
    by_thread = order(thread)
    ordered = thread[by_thread]
    step = is_begin[by_thread].astype(np.int64) - is_end[by_thread]
    total = np.cumsum(step)
    first = count_before(ordered, ordered)
    base = np.where(first > 0, total[first - 1], 0)
    depth = total - base
    lowest = np.minimum.reduceat(depth, np.unique(first))
    opened_before = np.maximum(-lowest, 0)[np.unique(first, return_inverse=True)[1]]
    inside[by_thread] = depth + opened_before > 0
    return np.asarray(inside & trace.is_host_call & ~is_begin & ~is_end)


def _first_known(column: npt.NDArray[Any], op: Ints, call: Ints, absent: int) -> Ints:
    """Each op's own value, else its call's."""
    known = gather(column, op).astype(np.int64)
    unknown = np.flatnonzero(known == absent)
    known[unknown] = column[call[unknown]]
    return known


def _process(trace: Trace, host: Ints, op: Ints, call: Ints) -> Ints:
    process = _first_known(trace.process, op, call, ABSENT_PROCESS)
    unknown = process == ABSENT_PROCESS
    if unknown.any():
        for part in np.unique(trace.part[op[unknown]]):
            inside = host[trace.part[host] == part]
            present = np.unique(trace.process[inside])
            present = present[present != ABSENT_PROCESS]
            if present.size == 1:
                process[unknown & (trace.part[op] == part)] = present[0]
    return process


def _device(trace: Trace, op: Ints, call: Ints) -> Ints:
    device = _first_known(trace.device, op, call, ABSENT_DEVICE)
    known = device[distinct(device)]
    known = known[known != ABSENT_DEVICE]
    if known.size == 1:
        device[:] = known[0]
    return device


def _outer_enqueue(trace: Trace, enqueue: Ints, thread: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    outer = np.arange(len(trace), dtype=np.int32)
    outer[enqueue] = enqueue[
        outermost(gather(thread, enqueue), gather(trace.start_ns, enqueue), gather(trace.end_ns, enqueue))
    ]
    return outer


def owned_ops(links: Link, calls: Ints, among: Ints | None = None) -> tuple[Ints, Ints]:
    """Pairs (index into `calls`, index of op): ops of each call and of the enqueue calls nested in it.

    `among` are the linked ops to choose from, in the order in which a call's ops are to come; None is all,
    and then a call that encloses n others gives n times its ops.
    """
    chosen = np.flatnonzero(links.linked) if among is None else among
    owner = gather(links.outer, gather(links.call, chosen))
    by_owner = order(owner)
    owner, wanted = gather(owner, by_owner), gather(links.outer, calls)
    which, at = spread(count_before(owner, wanted), count_until(owner, wanted))
    return which, gather(chosen, gather(by_owner, at))
