"""What measuring finds in a trace, as tracks for viewers: spans, counters, and arrows from ops to waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from overlap_lab.analyze import report_and_context
from overlap_lab.columns import Ints, Mask, count_before
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.idle import idle_segments
from overlap_lab.metrics.places import names_of
from overlap_lab.metrics.waits import REASONS
from overlap_lab.schema import ABSENT_DEVICE
from overlap_lab.trace import Trace

__all__ = ["Arrows", "Counter", "Found", "Spans", "arrows_of", "found_in"]


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """One track; spans of it are nested or apart."""

    track: str
    start_ns: Ints
    end_ns: Ints
    label: Ints
    """Index into `labels`."""
    labels: Sequence[str]
    arrow: Ints | None = None
    """The arrow that leads to each span, counted from 1; 0 where none does. On tracks of waits only."""
    lands_at_end: Mask | None = None
    """Whether that arrow leads to the span's end, else to its start."""


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """A value from each time on, up to the next."""

    track: str
    unit: str
    time_ns: Ints
    value: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Arrows:
    """From the end of the last op that a wait depended on to the wait's return; arrow n is entry n - 1."""

    op: Ints
    """Row of the op."""
    wait: Ints
    """Row of the waiting call."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    spans: tuple[Spans, ...]
    counters: tuple[Counter, ...]
    arrows: Arrows
    facts: dict[str, str]
    """The verdict, for the file's own description."""


def found_in(trace: Trace) -> Found:
    """Everything to show beside the events. Rows are those of the trace."""
    report, context = report_and_context(trace)
    arrows = arrows_of(context)
    return Found(
        spans=(*_waits(context, arrows), *_drains(context), *_idle(context)),
        counters=tuple(_counters(context)),
        arrows=arrows,
        facts={"verdict": report.verdict},
    )


def _on(device: int, what: str) -> str:
    return what if device == ABSENT_DEVICE else f"device {device}: {what}"


def _waits(context: Context, arrows: Arrows) -> Iterator[Spans]:
    """A track for each thread that waited, by the process and thread that the file names.

    What a wait took after the device was done is a span in it, and its arrow leads there: viewers draw
    arrows to the start of a span, and turn those round that would lead to an earlier one.
    """
    waits, trace = context.waits, context.trace
    arrow = np.zeros(len(trace), np.int64)
    arrow[arrows.wait] = np.arange(1, arrows.wait.size + 1)
    for number in np.unique(waits.thread).tolist():
        mine = np.flatnonzero(waits.thread == number)
        row, start, bound, end = (
            column[mine] for column in (waits.row, waits.counted_from, waits.bound_end, waits.end)
        )
        words = zip(names_of(trace, row), waits.reason[mine].tolist(), strict=True)
        label, labels = _coded([f"{name} ({REASONS[reason]})" for name, reason in words])
        has_return = (bound > start) & (bound < end)
        inner = np.flatnonzero(has_return)
        starts = np.concatenate([start, bound[inner]])
        ends = np.concatenate([end, end[inner]])
        order = np.lexsort((-ends, starts))
        yield Spans(
            f"waits of process {trace.process[row[0]]}, thread {trace.thread[row[0]]}",
            starts[order],
            ends[order],
            np.concatenate([label, np.full(inner.size, len(labels), np.int64)])[order],
            (*labels, "return latency"),
            arrow=np.concatenate([np.where(has_return, 0, arrow[row]), arrow[row[inner]]])[order],
            lands_at_end=np.concatenate([bound > start, np.zeros(inner.size, np.bool_)])[order],
        )


def _drains(context: Context) -> Iterator[Spans]:
    """A track for each device: every drain, and in it what its time went to."""
    for device, drains in context.drains.items():
        if not drains.start.size:
            continue
        names = names_of(context.trace, context.waits.row[drains.wait])
        label, labels = _coded([f"drain after {name}" for name in names])
        parts = (
            (drains.start, drains.end),
            (drains.start, drains.returned),
            (drains.returned, drains.enqueued),
            (drains.enqueued, drains.end),
        )
        size, base = drains.start.size, len(labels)
        start, end = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        which = np.concatenate([label, *(np.full(size, base + at, np.int64) for at in range(3))])
        keep = np.flatnonzero(end > start)
        order = keep[np.lexsort((-end[keep], start[keep]))]
        words = (*labels, "return", "refill", "launch")
        yield Spans(_on(device, "drains"), start[order], end[order], which[order], words)


def _idle(context: Context) -> Iterator[Spans]:
    words = [f"idle: {cause.replace('_', ' ')}" for cause in CAUSES]
    for device in context.devices:
        found = idle_segments(context, device)
        if found.start.size:
            yield Spans(
                _on(device, "idle by cause"), found.start, found.end, found.cause.astype(np.int64), words
            )


def _counters(context: Context) -> Iterator[Counter]:
    for device in context.devices:
        queue = context.queue(device)
        times = np.unique(np.concatenate([queue.entered, queue.left, queue.start, queue.end]))
        yield Counter(_on(device, "queue depth"), "count", times, queue.depth(times))
        yield Counter(_on(device, "queued work"), "ns", times, queue.queued_work(times))


def arrows_of(context: Context) -> Arrows:
    """Of waits whose device part ends with an op, that op: a wait for none, or for a lock, has no arrow."""
    waits, links, ops = context.waits, context.links, context.ops
    by_end = np.argsort(ops.end, kind="stable")
    ends = ops.end[by_end]
    at = count_before(ends, waits.bound_end)
    there = at < ends.size
    there[there] = ends[at[there]] == waits.bound_end[there]
    wait = np.flatnonzero(there)
    return Arrows(links.op[by_end[at[wait]]].astype(np.int64), waits.row[wait].astype(np.int64))


def _coded(words: Sequence[str]) -> tuple[Ints, list[str]]:
    index: dict[str, int] = {}
    codes = np.fromiter((index.setdefault(word, len(index)) for word in words), np.int64, len(words))
    return codes, list(index)
