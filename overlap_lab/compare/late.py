"""Synchronizes that drained nothing only because the host came late: a faster one would have waited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlap_lab.columns import Ints, Mask, gather, in_order, is_one_of
from overlap_lab.compare.allowances import AllowedCalls
from overlap_lab.compare.budget import Allowance
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.ops import Groups, grouped
from overlap_lab.metrics.opset import LONG_AGO
from overlap_lab.schema import ABSENT, Api

__all__ = ["late_allowed", "late_inside", "late_synchronizes", "late_words"]

_SYNCHRONIZES = (Api.STREAM_SYNC, Api.DEVICE_SYNC, Api.CONTEXT_SYNC)
_NONE = np.zeros(0, np.int64)


def late_synchronizes(context: Context, allowances: Sequence[Allowance]) -> Ints:
    """Rows of synchronizes that found their work done, and the device empty until more was enqueued.

    Only where something was enqueued for them since their thread last synchronized: else they would wait for
    nothing on any machine. Calls that are allowed are left out. `context` has all waits, allowed or not.
    """
    rows, calls = _called(context, _late_calls(context))
    if not allowances or not rows.size:
        return rows
    return rows[~calls.by_any(allowances)]


def late_allowed(context: Context, allowances: Sequence[Allowance]) -> tuple[int, ...]:
    """For each allowance how many of these synchronizes it takes, those of earlier ones apart."""
    late = _late_calls(context) if allowances else _NONE
    if not late.size:
        return (0,) * len(allowances)
    _, calls = _called(context, late)
    free, found = np.ones(late.size, np.bool_), []
    for one in allowances:
        mine = free & calls.by(one)
        free &= ~mine
        found.append(int(mine.sum()))
    return tuple(found)


def _called(context: Context, call: Ints) -> tuple[Ints, AllowedCalls]:
    """The rows of host calls, and what an allowance is asked of."""
    links = context.links
    rows = np.asarray(gather(links.host, call), np.int64)
    return rows, AllowedCalls(context, rows, gather(links.host_thread, call))


def _late_calls(context: Context) -> Ints:
    """Host calls that came late, allowed or not; found once for a trace."""
    if not context.late_syncs:
        call = _found_nothing(context)
        context.late_syncs.append(call[_came_late(context, call)])
    return context.late_syncs[0]


def _found_nothing(context: Context) -> Ints:
    """Host calls that synchronize and had nothing to wait for."""
    call = np.asarray(context.waits.redundant, np.int64)
    return call[is_one_of(gather(context.trace.api, context.links.host[call]), _SYNCHRONIZES)]


def _came_late(context: Context, call: Ints) -> Mask:
    late = np.zeros(call.size, np.bool_)
    enqueues, returns = _Enqueues(context), _Returns(context)
    threads = gather(context.links.host_thread, call)
    for mine in grouped(threads):
        thread = int(threads[mine[0]])
        late[mine] = _late_of_thread(context, thread, call[mine], enqueues, returns)
    return late


def _late_of_thread(
    context: Context, thread: int, call: Ints, enqueues: _Enqueues, returns: _Returns
) -> Mask:
    """Which calls of a thread left some device empty that something had been enqueued on for them."""
    trace, row = context.trace, gather(context.links.host, call)
    start, end, stream = (gather(each, row) for each in (trace.start_ns, trace.end_ns, trace.stream))
    of_stream = (gather(trace.api, row) == Api.STREAM_SYNC) & (stream != ABSENT)
    since = returns.last(thread, start)
    late = np.zeros(call.size, np.bool_)
    for device in context.feeds.by_thread.get(thread, ()):
        if device not in context.devices:
            continue
        ops = context.devices[device].ops
        drained = ~late & (ops.reach_before(end) <= end) & ops.has_later(end)
        whole, parts = np.flatnonzero(drained & ~of_stream), np.flatnonzero(drained & of_stream)
        late[whole] = _any_between(ops.enqueue, since[whole], start[whole])
        for mine in grouped(stream[parts]):
            asked = parts[mine]
            enqueued = enqueues.of_stream(device, int(stream[asked[0]]))
            late[asked] = _any_between(enqueued, since[asked], start[asked])
    return late


def _any_between(ordered: Ints, low: Ints, high: Ints) -> Mask:
    """Whether any of the numbers lies in each of some spans, whose ends lie outside."""
    return np.asarray(np.searchsorted(ordered, low) < np.searchsorted(ordered, high))


class _Enqueues:
    """When the ops of each stream of a device were enqueued."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._found: dict[int, dict[int, Ints]] = {}

    def of_stream(self, device: int, stream: int) -> Ints:
        """In order, of every process."""
        if device not in self._found:
            self._found[device] = self._by_stream(device)
        return self._found[device].get(stream, _NONE)

    def _by_stream(self, device: int) -> dict[int, Ints]:
        ops, index = self._context.ops, self._context.devices[device].index
        stream, enqueued = ops.stream(index), gather(ops.enqueue, index)
        return {int(stream[mine[0]]): in_order(gather(enqueued, mine)) for mine in grouped(stream)}


class _Returns:
    """When each thread came back from calls that waited, and from synchronizes that found nothing."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._empty = Groups.of_codes(gather(context.links.host_thread, context.waits.redundant))

    def last(self, thread: int, before: Ints) -> Ints:
        """The last such moment that is not after each of some others; LONG_AGO where there is none."""
        context, waits = self._context, self._context.waits
        empty = gather(context.links.host, waits.redundant[self._empty.of((thread,))])
        ends = np.r_[waits.end[context.waits_of_threads.of((thread,))], gather(context.trace.end_ns, empty)]
        ends = np.r_[LONG_AGO, np.sort(ends)]
        return np.asarray(ends[np.searchsorted(ends, before, side="right") - 1])


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
