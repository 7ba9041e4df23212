"""Time that host threads were blocked, split by who said so, by reason, and by what it was spent on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Rows,
    gather,
    largest_of_each,
    smallest_of_each,
    sum_of_each,
)
from overlap_lab.intervals import clip
from overlap_lab.metrics.catalog import measurement
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.waits import REASONS
from overlap_lab.report import Measurement
from overlap_lab.schema import ABSENT, ABSENT_PROCESS, EARLIEST_NS, LATEST_NS, LONGEST_NS, Api

__all__ = ["calls_inside", "host_blocking", "host_threads", "threads_by_tag"]


def host_blocking(context: Context) -> Iterator[Measurement]:
    """`host/*` measurements of the whole trace, of each process and of each thread."""
    rows = host_threads(context)[1]
    absent = None if rows.size else "the trace has no host records"
    scopes = _scopes(context, rows)
    for tag, per_thread in threads_by_tag(context).items():
        value = per_thread.tolist()
        yield measurement(tag, {}, sum(value) if rows.size else None, absent)
        for scope, threads in scopes:
            yield measurement(tag, scope, sum(value[thread] for thread in threads))


def _scopes(context: Context, rows: Ints) -> list[tuple[dict[str, int], list[int]]]:
    """Each process, behind it each of its threads, with the numbers of its threads."""
    trace = context.trace
    by_process: dict[int, dict[int, list[int]]] = {}
    names = zip(trace.process[rows].tolist(), trace.thread[rows].tolist(), strict=True)
    for number, (process, thread) in enumerate(names):
        if process != ABSENT_PROCESS:
            by_process.setdefault(process, {}).setdefault(thread, []).append(number)
    found: list[tuple[dict[str, int], list[int]]] = []
    for process, threads in sorted(by_process.items()):
        found.append(({"process": process}, [number for mine in threads.values() for number in mine]))
        for thread, mine in sorted(threads.items()):
            if thread != ABSENT:
                found.append(({"process": process, "thread": thread}, mine))
    return found


def host_threads(context: Context) -> tuple[Ints, Ints]:
    """Threads that made host calls, and one row of each."""
    rows = context.links.thread_rows
    return np.arange(rows.size), rows


def threads_by_tag(context: Context) -> dict[str, Ints]:
    """Each `host/*` value per thread number of the link."""
    if context.window not in context.host_values:
        context.host_values[context.window] = _values_by_thread(context)
    return context.host_values[context.window]


def _values_by_thread(context: Context) -> dict[str, Ints]:
    waits, window = context.waits, context.window
    size = context.links.thread_rows.size
    whole = _clipped(waits.counted_from, waits.end, window)
    bound = _clipped(waits.counted_from, waits.bound_end, window)
    values = {
        "host/blocked": sum_of_each(waits.thread, whole, size),
        "host/blocked/explicit": sum_of_each(waits.thread, whole * waits.explicit, size),
        "host/blocked/implicit": sum_of_each(waits.thread, whole * ~waits.explicit, size),
        "host/blocked/device_bound": sum_of_each(waits.thread, bound, size),
        "host/blocked/return_latency": sum_of_each(waits.thread, whole - bound, size),
    }
    for number, reason in enumerate(REASONS):
        values[f"host/blocked/{reason}"] = sum_of_each(waits.thread, whole * (waits.reason == number), size)
    values["host/unknown_wait"] = _unions(context, waits.unknown, size)
    redundant = calls_inside(context, waits.redundant)
    values["host/redundant_waits"] = sum_of_each(
        context.links.host_thread[redundant], np.ones_like(redundant), size
    )
    queries = calls_inside(context, context.links.calls_of(context.trace, (Api.QUERY,), captured=True))
    values["host/polling_calls"] = sum_of_each(
        context.links.host_thread[queries], np.ones_like(queries), size
    )
    values["host/polling_time"] = _unions(context, queries, size)
    values["host/polling_span"] = _spans(context, queries, size)
    return values


def _clipped(start: Ints, end: Ints, window: Window | None) -> Ints:
    first, last = clip(start, end, window)
    return last - first


def calls_inside(context: Context, calls: Rows) -> Rows:
    """Host calls of which some part lies in the window."""
    if context.window is None:
        return calls
    first, last = context.window
    rows = context.links.host[calls]
    return calls[(context.trace.start_ns[rows] < last) & (context.trace.end_ns[rows] > first)]


def _unions(context: Context, calls: Rows, size: int) -> Ints:
    """Per thread the time that its calls cover together."""
    rows, thread = context.links.host[calls], context.links.host_thread[calls]
    start, end = gather(context.trace.start_ns, rows), gather(context.trace.end_ns, rows)
    limits = context.window or (EARLIEST_NS, LATEST_NS + LONGEST_NS)
    return np.array(native.busy_by_place(start, end, thread, size, *limits), np.int64)


def _spans(context: Context, calls: Rows, size: int) -> Ints:
    """Per thread the time from the start of its first call to the end of its last."""
    rows = context.links.host[calls]
    start, end = clip(context.trace.start_ns[rows], context.trace.end_ns[rows], context.window)
    thread, limits = context.links.host_thread[calls], np.iinfo(np.int64)
    first = smallest_of_each(thread, start, size, initial=limits.max)
    last = largest_of_each(thread, end, size, initial=limits.min)
    return np.where(first <= last, last - first, 0)
