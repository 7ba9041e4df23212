"""Time that host threads were blocked, split by who said so, by reason, and by what it was spent on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlap_lab.columns import Ints, distinct, is_one_of
from overlap_lab.intervals import clip, length, union
from overlap_lab.metrics.catalog import measurement
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.waits import REASONS
from overlap_lab.report import Measurement
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, Api

__all__ = ["host_blocking", "host_threads", "threads_by_tag"]


def host_blocking(context: Context) -> Iterator[Measurement]:
    """`host/*` measurements of the whole trace, of each process and of each thread."""
    trace = context.trace
    thread, rows = host_threads(context)
    absent = None if rows.size else "the trace has no host records"
    values = threads_by_tag(context)
    process, number = trace.process[rows].astype(np.int64), trace.thread[rows]
    for tag, per_thread in values.items():
        total = int(per_thread.sum()) if rows.size else None
        yield measurement(tag, {}, total, absent)
        for one in np.unique(process[process != ABSENT_PROCESS]).tolist():
            mine = process == one
            yield measurement(tag, {"process": one}, int(per_thread[thread[mine]].sum()))
            for each in np.unique(number[mine & (number != ABSENT)]).tolist():
                its = thread[mine & (number == each)]
                yield measurement(tag, {"process": one, "thread": each}, int(per_thread[its].sum()))


def host_threads(context: Context) -> tuple[Ints, Ints]:
    """Threads that made host calls, and one row of each."""
    calls = context.links.host
    thread = context.links.thread[calls]
    first = distinct(thread)
    return thread[first], calls[first]


def threads_by_tag(context: Context) -> dict[str, Ints]:
    """Each `host/*` value per thread number of the link."""
    waits, window = context.waits, context.window
    size = int(context.links.thread.max()) + 1 if len(context.trace) else 0
    whole = _clipped(waits.counted_from, waits.end, window)
    bound = _clipped(waits.counted_from, waits.bound_end, window)
    values = {
        "host/blocked": _sum(whole, waits.thread, size),
        "host/blocked/explicit": _sum(whole * waits.explicit, waits.thread, size),
        "host/blocked/implicit": _sum(whole * ~waits.explicit, waits.thread, size),
        "host/blocked/device_bound": _sum(bound, waits.thread, size),
        "host/blocked/return_latency": _sum(whole - bound, waits.thread, size),
    }
    for number, reason in enumerate(REASONS):
        values[f"host/blocked/{reason}"] = _sum(whole * (waits.reason == number), waits.thread, size)
    values["host/unknown_wait"] = _unions(context, waits.unknown, size)
    redundant = _inside(context, waits.redundant)
    values["host/redundant_waits"] = _sum(np.ones_like(redundant), context.links.thread[redundant], size)
    host = context.links.host
    queries = _inside(context, host[is_one_of(context.trace.api[host], (Api.QUERY,))])
    values["host/polling_calls"] = _sum(np.ones_like(queries), context.links.thread[queries], size)
    values["host/polling_time"] = _unions(context, queries, size)
    values["host/polling_span"] = _spans(context, queries, size)
    return values


def _clipped(start: Ints, end: Ints, window: Window | None) -> Ints:
    first, last = clip(start, end, window)
    return last - first


def _sum(value: Ints, thread: Ints, size: int) -> Ints:
    total = np.zeros(size, np.int64)
    np.add.at(total, thread, value)
    return total


def _inside(context: Context, rows: Ints) -> Ints:
    """Rows of host calls of which some part lies in the window."""
    if context.window is None:
        return rows
    first, last = context.window
    return rows[(context.trace.start_ns[rows] < last) & (context.trace.end_ns[rows] > first)]


def _unions(context: Context, rows: Ints, size: int) -> Ints:
    """Per thread the time that its calls cover together."""
    total = np.zeros(size, np.int64)
    start, end = clip(context.trace.start_ns[rows], context.trace.end_ns[rows], context.window)
    thread = context.links.thread[rows]
    for one in np.unique(thread).tolist():
        mine = thread == one
        total[one] = length(union(start[mine], end[mine]))
    return total


def _spans(context: Context, rows: Ints, size: int) -> Ints:
    """Per thread the time from the start of its first call to the end of its last."""
    total = np.zeros(size, np.int64)
    start, end = clip(context.trace.start_ns[rows], context.trace.end_ns[rows], context.window)
    thread = context.links.thread[rows]
    for one in np.unique(thread).tolist():
        total[one] = int(end[thread == one].max() - start[thread == one].min())
    return total
