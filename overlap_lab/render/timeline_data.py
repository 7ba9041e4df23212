"""Trace and what was measured in it -> every span of the timeline, as columns that the page reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from overlap_lab.analyze import report_and_context
from overlap_lab.columns import Ints, Mask, dense_codes, gather
from overlap_lab.errors import UsageError
from overlap_lab.export.found import arrows_of
from overlap_lab.export.lanes import lanes_of_spans
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.places import relative_start_ns
from overlap_lab.metrics.waits import REASONS
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Kind
from overlap_lab.trace import Trace

__all__ = ["DrawnPanel", "Row", "Series", "TimelinePanel", "aligned_zero_ns", "drawn_panel"]

_OP_WORDS: Final = {Kind.KERNEL: "kernel", Kind.MEMCPY: "copy", Kind.MEMSET: "memset"}
_HOST_WORDS: Final = {Kind.API: "host call", Kind.RANGE: "range", Kind.CPU_OP: "CPU op"}
_MOST_DEPTHS: Final = 24
"""Rows of nested spans; deeper ones are left out, which is said below the timeline."""


@dataclass(frozen=True, slots=True, eq=False)
class TimelinePanel:
    """One trace of the timeline under the name that people know it by.

    `context` is what `report_and_context` returned for it; without, the trace is measured here. `zero_ns` is
    the moment of the trace's own clock that lies at 0 of the common axis; its first record unless given.
    """

    title: str
    trace: Trace
    context: Context | None = None
    zero_ns: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Spans of one colour on one row, which follow each other; times count from the trace's first record."""

    entry: str
    start_ns: Ints
    end_ns: Ints
    name: Ints
    """Index into the panel's names."""
    row: Ints
    """Row of the trace each span shows; empty for idle time, which is no row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the timeline; rows without a label continue the one above."""

    label: str
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPanel:
    """Everything of one trace that is drawn."""

    title: str
    first_ns: int
    """The trace's first record, on its own clock."""
    zero_ns: int
    """What lies at 0 of the common axis, as ns after the first record."""
    rows: tuple[Row, ...]
    names: tuple[str, ...]
    op_rows: Ints
    """Rows of linked ops, ascending, and in `call_rows` those of their enqueue calls."""
    call_rows: Ints
    arrow_op: Ints
    """Rows of ops that waits depended on last, and in `arrow_wait` those of the waiting calls."""
    arrow_wait: Ints
    notes: tuple[str, ...]


def drawn_panel(panel: TimelinePanel) -> DrawnPanel:
    """Every host call, range, CPU op, wait, device op and idle span of a trace, with what links them."""
    context = report_and_context(panel.trace)[1] if panel.context is None else panel.context
    trace, links = context.trace, context.links
    names = _Names(trace)
    notes: list[str] = []
    rows = tuple(_rows(context, names, notes))
    first = relative_start_ns(context)
    arrows, linked = arrows_of(context), np.flatnonzero(links.linked)
    return DrawnPanel(
        title=panel.title,
        first_ns=first,
        zero_ns=0 if panel.zero_ns is None else panel.zero_ns - first,
        rows=rows,
        names=tuple(names.words),
        op_rows=links.op[linked].astype(np.int64),
        call_rows=links.call_rows(linked).astype(np.int64),
        arrow_op=arrows.op,
        arrow_wait=arrows.wait,
        notes=(*notes, *_left_out(trace)),
    )


@dataclass(slots=True, eq=False)
class _Names:
    """The trace's names, then our own words; the last of the trace's is for rows without a name."""

    trace: Trace
    words: list[str] = field(init=False)
    added: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = [*self.trace.names, "(no name)"]

    def of(self, rows: Ints) -> Ints:
        codes = self.trace.name[rows].astype(np.int64)
        return np.where(codes < 0, len(self.trace.names), codes)

    def own(self, word: str) -> int:
        if word not in self.added:
            self.added[word] = len(self.words)
            self.words.append(word)
        return self.added[word]


def _rows(context: Context, names: _Names, notes: list[str]) -> Iterator[Row]:
    """Threads that feed a device or wait, then the devices, then all other threads."""
    links, trace = context.links, context.trace
    shown = np.flatnonzero(np.isin(trace.kind, list(_HOST_WORDS)))
    number_of = dense_codes(trace.part, trace.process, trace.thread)
    calls = links.call_rows(np.flatnonzero(links.linked))
    busy = set(np.unique(number_of[np.r_[calls, context.waits.row]]).tolist())
    several = np.unique(trace.process[shown]).size > 1
    by_thread = _parts_of(number_of[shown], shown)
    waits = _parts_of(number_of[context.waits.row], np.arange(context.waits.row.size))
    none = np.zeros(0, np.int64)
    final = _final_waits(context)
    for number in sorted(by_thread.keys() & busy):
        its = waits.get(number, none)
        mine = by_thread[number], its, final[its]
        yield from _thread_rows(context, names, mine, notes, several=several)
    device = links.device
    by_device = _parts_of(device, np.arange(device.size))
    for number in context.devices:
        yield from _device_rows(context, names, number, by_device.get(number, none))
    for number in sorted(by_thread.keys() - busy):
        yield from _thread_rows(
            context, names, (by_thread[number], none, final[none]), notes, several=several
        )


def _thread_rows(
    context: Context, names: _Names, mine: tuple[Ints, Ints, Mask], notes: list[str], *, several: bool
) -> Iterator[Row]:
    """The rows of one thread, and its waits, of which some are final."""
    trace, (rows, waits, final) = context.trace, mine
    sample = int(rows[0])
    process, thread = int(trace.process[sample]), int(trace.thread[sample])
    label = "host" if thread == ABSENT else f"thread {thread}"
    if several and process != ABSENT_PROCESS:
        label = f"process {process} main" if thread == process else f"process {process} {label}"
    yield from _wait_rows(context, names, waits, final, f"{label}: blocked")
    for kind, word in _HOST_WORDS.items():
        of_kind = rows[trace.kind[rows] == kind]
        if of_kind.size:
            nested = _nested(trace, names, of_kind, {kind: word}, f"{label}: {word}s")
            if len(nested) > _MOST_DEPTHS:
                notes.append(f"{label}: {word}s nested deeper than {_MOST_DEPTHS} are not drawn")
            yield from nested[:_MOST_DEPTHS]


def _final_waits(context: Context) -> Mask:
    """Per wait whether no op came after it on a device."""
    final = np.zeros(context.waits.row.size, np.bool_)
    for drains in context.drains.values():
        final[drains.terminal_waits] = True
    return final


def _wait_rows(context: Context, names: _Names, mine: Ints, final: Mask, label: str) -> Iterator[Row]:
    """The waits of a thread, in a strong colour but for the final ones."""
    waits, zero = context.waits, relative_start_ns(context)
    if mine.size == 0:
        return
    codes = names.of(waits.row[mine].astype(np.int64)) * len(REASONS) + waits.reason[mine]
    kinds, which = np.unique(codes, return_inverse=True)
    words = [
        names.own(f"{names.words[code // len(REASONS)]} ({REASONS[code % len(REASONS)].replace('_', ' ')})")
        for code in kinds.tolist()
    ]
    name = np.array(words, np.int64)[which]
    end = np.maximum.accumulate(waits.end[mine]) - zero
    start = np.minimum(waits.counted_from[mine] - zero, end)
    parts = tuple(
        Series(word, start[part], end[part], name[part], waits.row[mine[part]].astype(np.int64))
        for word, part in (
            ("blocked", np.flatnonzero(~final)),
            ("blocked, final wait", np.flatnonzero(final)),
        )
        if part.size
    )
    yield Row(label, parts)


def _device_rows(context: Context, names: _Names, device: int, mine: Ints) -> Iterator[Row]:
    trace, links = context.trace, context.links
    where = "" if device == ABSENT_DEVICE else f"device {device} "
    streams = gather(links.places.stream, gather(links.place, mine))
    for stream, at in _parts_of(streams, mine).items():
        label = where + ("ops" if stream == ABSENT else f"stream {stream}")
        yield from _nested(trace, names, links.op[at].astype(np.int64), _OP_WORDS, label)
    idle, zero = context.idle[device], relative_start_ns(context)
    parts = []
    for number, cause in enumerate(CAUSES):
        chosen = np.flatnonzero(idle.cause == number)
        if chosen.size:
            word = f"idle: {cause.replace('_', ' ')}"
            same = np.full(chosen.size, names.own(word), np.int64)
            none = np.zeros(0, np.int64)
            parts.append(Series(word, idle.start[chosen] - zero, idle.end[chosen] - zero, same, none))
    if parts:
        yield Row(f"{where}idle by cause", tuple(parts))


def _nested(trace: Trace, names: _Names, rows: Ints, words: Mapping[Kind, str], label: str) -> list[Row]:
    """Rows on which no two spans overlap: nested or overlapping ones go to the next row below."""
    zero = int(trace.start_ns[0])
    lane = lanes_of_spans(trace.start_ns[rows], trace.end_ns[rows])
    found = []
    for depth, at in _parts_of(lane, rows).items():
        parts = []
        for kind, word in words.items():
            mine = at[trace.kind[at] == kind]
            if mine.size:
                start, end = trace.start_ns[mine] - zero, trace.end_ns[mine] - zero
                parts.append(Series(word, start, end, names.of(mine), mine))
        found.append(Row(label if depth == 0 else "", tuple(parts)))
    return found


def _parts_of(keys: npt.NDArray[Any], rows: Ints) -> dict[int, Ints]:
    """The rows of each key, by key; within one in their own order."""
    if rows.size == 0:
        return {}
    order = np.argsort(keys, kind="stable")
    edges = np.flatnonzero(np.diff(keys[order])) + 1
    return {int(keys[part[0]]): rows[part] for part in np.split(order, edges)}


def _left_out(trace: Trace) -> Iterator[str]:
    frames = int((trace.kind == Kind.PYTHON).sum())
    if frames:
        yield f"{frames:,} Python frames are not drawn; the tables name those around waits"


def aligned_zero_ns(trace: Trace, on: str) -> int:
    """The moment at which traces are laid above each other: the start of the first event of that name, for
    `TimelinePanel.zero_ns`. A step or range as it is called (`ProfilerStep#3`), a kernel, or a host call.

    Raises UsageError where nothing of the trace is called so.
    """
    codes = [code for code, name in enumerate(trace.names) if name == on]
    found = np.flatnonzero(np.isin(trace.name, codes))
    if not found.size:
        raise UsageError(f"align on {on!r}: no event of the trace has this name")
    return int(trace.start_ns[found[0]])
