"""Synchronizes that drained nothing only because the host came late: a faster one would have waited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlap_lab.columns import Ints, Mask, gather, is_one_of
from overlap_lab.compare.allowances import AllowedCalls
from overlap_lab.compare.budget import Allowance
from overlap_lab.metrics.context import Context, Window
from overlap_lab.schema import ABSENT, Api

__all__ = ["late_allowed", "late_inside", "late_synchronizes", "late_words"]

_SYNCHRONIZES = (Api.STREAM_SYNC, Api.DEVICE_SYNC, Api.CONTEXT_SYNC)


def late_synchronizes(context: Context, allowances: Sequence[Allowance]) -> Ints:
    """Rows of synchronizes that found their work done, and the device empty until more was enqueued.

    Only where something was enqueued for them since their thread last synchronized: else they would wait for
    nothing on any machine. Calls that are allowed are left out. `context` has all waits, allowed or not.
    """
    call = _found_nothing(context)
    late = call[_came_late(context, call)]
    rows, calls = _called(context, late)
    if not allowances or not rows.size:
        return rows
    return rows[~calls.by_any(allowances)]


def late_allowed(context: Context, allowances: Sequence[Allowance]) -> tuple[int, ...]:
    """For each allowance how many of these synchronizes it takes, those of earlier ones apart."""
    call = _found_nothing(context)
    if not allowances or not call.size:
        return (0,) * len(allowances)
    _, calls = _called(context, call)
    free, found = np.ones(call.size, np.bool_), []
    for one in allowances:
        mine = free & calls.by(one)
        free &= ~mine
        found.append(int(_came_late(context, call[mine]).sum()))
    return tuple(found)


def _found_nothing(context: Context) -> Ints:
    """Host calls that synchronize and had nothing to wait for."""
    call = np.asarray(context.waits.redundant, np.int64)
    return call[is_one_of(gather(context.trace.api, context.links.host[call]), _SYNCHRONIZES)]


def _called(context: Context, call: Ints) -> tuple[Ints, AllowedCalls]:
    """The rows of host calls, and what an allowance is asked of."""
    links = context.links
    rows = np.asarray(gather(links.host, call), np.int64)
    return rows, AllowedCalls(context, rows, gather(links.host_thread, call))


def _came_late(context: Context, call: Ints) -> Mask:
    return np.array([_is_late(context, one) for one in call.tolist()], np.bool_)


def _is_late(context: Context, call: int) -> bool:
    trace, ops = context.trace, context.ops
    row, thread = int(context.links.host[call]), int(context.links.host_thread[call])
    start, end, stream = int(trace.start_ns[row]), int(trace.end_ns[row]), int(trace.stream[row])
    since = _last_return(context, thread, start)
    for device in context.feeds.by_thread.get(thread, ()):
        lane = context.devices.get(device)
        if lane is None:
            continue
        returned = np.array([end])
        drained = bool((lane.ops.reach_before(returned) <= end).all() and lane.ops.has_later(returned).all())
        if not drained:
            continue
        mine = lane.index
        if trace.api[row] == Api.STREAM_SYNC and stream != ABSENT:
            mine = mine[ops.stream(mine) == stream]
        enqueued = gather(ops.enqueue, mine)
        if bool(((enqueued >= since) & (enqueued < start)).any()):
            return True
    return False


def _last_return(context: Context, thread: int, before: int) -> int:
    """When the thread last came back from a call that waited, or from a synchronize that found nothing."""
    waits, links = context.waits, context.links
    empty = waits.redundant[links.host_thread[waits.redundant] == thread]
    ends = np.r_[waits.end[context.waits_of_threads.of((thread,))], context.trace.end_ns[links.host[empty]]]
    return int(ends[ends <= before].max(initial=np.iinfo(np.int64).min))


def late_words(context: Context, rows: Ints) -> str:
    """These calls by name."""
    names = [context.trace.name_of(row) for row in rows.tolist()]
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    which = (f"{count} x {name}" if count > 1 else name for name, count in counts.items())
    return f"{', '.join(which)} came when the work was done"


def late_inside(context: Context, rows: Ints, windows: Sequence[Window]) -> Ints:
    """How many of the calls began in each window."""
    start = context.trace.start_ns[rows]
    return np.array([int(((start >= first) & (start < last)).sum()) for first, last in windows], np.int64)
