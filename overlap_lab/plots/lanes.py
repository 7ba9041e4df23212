"""Trace and Report -> the lanes of a timeline: columns in, columns out, no plotly here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import sum_of_each
from overlap_lab.render.numbers import records
from overlap_lab.report import Cell, Report
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, Cause, Kind
from overlap_lab.trace import Trace

__all__ = [
    "Ints",
    "Lane",
    "Spans",
    "annotation_lanes",
    "blocked_lanes",
    "device_lanes",
    "devices_in",
    "host_lanes",
    "idle_lanes",
    "merge_short",
    "origin_ns",
    "stream_word",
    "work_of_devices",
]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Bars of one lane and colour, ordered by start; times count from the trace's first record."""

    start_ns: Ints
    end_ns: Ints
    events: Ints
    """How many events each bar stands for."""
    covered_ns: Ints
    """Sum of their durations: what the bar would be if it were solid."""
    names: tuple[str, ...]
    """One a bar; the longest event's name where the bar stands for several."""

    @classmethod
    def of(cls, start_ns: Any, end_ns: Any, names: Sequence[str]) -> Spans:
        start, end = np.asarray(start_ns, np.int64), np.asarray(end_ns, np.int64)
        return cls(start, end, np.ones(start.size, np.int64), end - start, tuple(names))

    def __len__(self) -> int:
        return int(self.start_ns.size)

    def within(self, first_ns: int, last_ns: int) -> Spans:
        """The bars of which some part lies between two times."""
        keep = np.flatnonzero((self.end_ns > first_ns) & (self.start_ns < last_ns))
        names = tuple(self.names[at] for at in keep.tolist())
        start, end, events, covered = (
            column[keep] for column in (self.start_ns, self.end_ns, self.events, self.covered_ns)
        )
        return Spans(start, end, events, covered, names)

    def moved(self, offset_ns: int) -> Spans:
        """The same bars, that much later."""
        return Spans(
            self.start_ns + offset_ns, self.end_ns + offset_ns, self.events, self.covered_ns, self.names
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One line of the timeline; `parts` are its bars by colour, as (legend entry, spans)."""

    label: str
    parts: tuple[tuple[str, Spans], ...]

    def within(self, first_ns: int, last_ns: int) -> Lane:
        """The same lane with the bars of which some part lies between two times."""
        parts = ((entry, spans.within(first_ns, last_ns)) for entry, spans in self.parts)
        return Lane(self.label, tuple((entry, spans) for entry, spans in parts if len(spans)))

    def moved(self, offset_ns: int) -> Lane:
        """The same lane, that much later."""
        return Lane(self.label, tuple((entry, spans.moved(offset_ns)) for entry, spans in self.parts))

    @property
    def duration_ns(self) -> int:
        return sum(int(spans.covered_ns.sum()) for _, spans in self.parts)

    @property
    def start_ns(self) -> int:
        return min(int(spans.start_ns.min()) for _, spans in self.parts)

    @property
    def end_ns(self) -> int:
        return max(int(spans.end_ns.max()) for _, spans in self.parts)

    @property
    def bar_count(self) -> int:
        return sum(len(spans) for _, spans in self.parts)

    @property
    def event_count(self) -> int:
        return sum(int(spans.events.sum()) for _, spans in self.parts)


def origin_ns(trace: Trace) -> int:
    """Time 0 of every axis, of the report's tables and of `--window`: the trace's first record."""
    return int(trace.start_ns[0]) if len(trace) else 0


def host_lanes(trace: Trace) -> list[Lane]:
    """A lane of host calls for each thread that made one."""
    rows = np.flatnonzero(trace.is_host_call)
    several = np.unique(trace.process[rows]).size > 1
    lanes = []
    for (process, thread), picked in _groups(rows, trace.process, trace.thread):
        of_process = f", process {process}" if several and process != ABSENT_PROCESS else ""
        who = "host calls" if thread == ABSENT else f"thread {thread}{of_process}"
        lanes.append(Lane(who, (("host call", _spans(trace, picked)),)))
    return lanes


def annotation_lanes(trace: Trace) -> list[Lane]:
    """A lane of the outermost ranges and one of the outermost framework ops for each thread that has any."""
    lanes = []
    for kind, entry in ((Kind.RANGE, "range"), (Kind.CPU_OP, "framework op")):
        rows = np.flatnonzero((trace.kind == kind) & (trace.depth == 0))
        for (_, thread), picked in _groups(rows, trace.process, trace.thread):
            who = "" if thread == ABSENT else f"thread {thread} "
            lanes.append(Lane(f"{who}{entry}s", ((entry, _spans(trace, picked)),)))
    return lanes


def device_lanes(trace: Trace, device: int) -> list[Lane]:
    """A lane of device ops for each stream of the device, coloured by kind."""
    rows = np.flatnonzero(trace.is_device & (trace.device == device))
    lanes = []
    for (stream,), picked in _groups(rows, trace.stream):
        kinds = trace.kind[picked]
        parts = [
            (word, _spans(trace, picked[kinds == kind]))
            for word, kind in (("kernel", Kind.KERNEL), ("copy", Kind.MEMCPY), ("memset", Kind.MEMSET))
            if (kinds == kind).any()
        ]
        lanes.append(Lane(stream_word(device, stream), tuple(parts)))
    return lanes


def stream_word(device: int, stream: int) -> str:
    """How the lane of a stream is called."""
    where = "" if device == ABSENT_DEVICE else f"device {device} "
    return where + ("ops" if stream == ABSENT else f"stream {stream}")


def merge_short(spans: Spans, *, pixel_ns: int, most: int) -> Spans:
    """Where there are more than `most` bars, the short ones that start within one pixel become one.

    A bar that is longer than a pixel is never touched, and `covered_ns` keeps how dense the others were.
    """
    if len(spans) <= most:
        return spans
    short = spans.end_ns - spans.start_ns < pixel_ns
    pixel = spans.start_ns // pixel_ns
    starts_bar = np.r_[True, ~(short[1:] & short[:-1] & (pixel[1:] == pixel[:-1]))]
    first = np.flatnonzero(starts_bar)
    bar = np.cumsum(starts_bar) - 1
    longest = np.lexsort((spans.start_ns - spans.end_ns, bar))[first]
    return Spans(
        start_ns=spans.start_ns[first],
        end_ns=np.maximum.reduceat(spans.end_ns, first),
        events=np.add.reduceat(spans.events, first),
        covered_ns=np.add.reduceat(spans.covered_ns, first),
        names=tuple(spans.names[row] for row in longest.tolist()),
    )


def _groups(rows: Ints, *keys: npt.NDArray[Any]) -> list[tuple[tuple[int, ...], Ints]]:
    """The rows by equal keys, in order of key; within a group in their own order."""
    if rows.size == 0:
        return []
    columns = np.stack([key[rows].astype(np.int64) for key in keys])
    order = np.lexsort(columns[::-1])
    ordered = columns[:, order]
    edges = np.flatnonzero((ordered[:, 1:] != ordered[:, :-1]).any(axis=0)) + 1
    return [(tuple(columns[:, part[0]].tolist()), rows[np.sort(part)]) for part in np.split(order, edges)]


def _spans(trace: Trace, rows: Ints) -> Spans:
    zero = origin_ns(trace)
    return Spans.of(
        trace.start_ns[rows] - zero, trace.end_ns[rows] - zero, [trace.name_of(row) for row in rows.tolist()]
    )


def devices_in(trace: Trace) -> list[int]:
    """The devices that ran an op, in order."""
    return work_of_devices(trace)[0]


def work_of_devices(trace: Trace) -> tuple[list[int], list[int], list[int]]:
    """The devices that ran an op, in order, how long their ops are together, and how many they are."""
    rows = np.flatnonzero(trace.is_device)
    devices, code = np.unique(trace.device[rows], return_inverse=True)
    work = sum_of_each(code, trace.end_ns[rows] - trace.start_ns[rows], devices.size)
    return devices.tolist(), work.tolist(), np.bincount(code, minlength=devices.size).tolist()


def blocked_lanes(report: Report) -> list[Lane]:
    """A lane with the waits of each thread that waited."""
    threads: dict[tuple[Cell, Cell], list[dict[str, Cell]]] = {}
    for wait in records(report.tables.get("waits")):
        threads.setdefault((wait["process"], wait["thread"]), []).append(wait)
    several = len(threads) > 1
    return [
        Lane(f"blocked, thread {thread}" if several else "blocked", tuple(_wait_parts(waits)))
        for (_, thread), waits in threads.items()
    ]


def _wait_parts(waits: Sequence[Mapping[str, Cell]]) -> Iterator[tuple[str, Spans]]:
    for entry, is_final in (("blocked", False), ("blocked, final wait", True)):
        chosen = [wait for wait in waits if bool(wait["terminal"]) is is_final]
        if chosen:
            yield entry, _recorded(chosen, [f"{wait['call']} ({wait['reason']})" for wait in chosen])


def idle_lanes(report: Report) -> dict[int, list[Lane]]:
    """For each device that ever idles one lane with its idle time, coloured by cause."""
    by_device: dict[Cell, dict[Cell, list[dict[str, Cell]]]] = {}
    for segment in records(report.tables.get("idle")):
        by_device.setdefault(segment["device"], {}).setdefault(segment["cause"], []).append(segment)
    found = {}
    for number, by_cause in by_device.items():
        parts = []
        for cause in Cause:
            chosen, word = by_cause.get(cause, []), f"idle: {cause.replace('_', ' ')}"
            if chosen:
                parts.append((word, _recorded(chosen, [word] * len(chosen))))
        label = "idle" if number is None else f"device {number} idle"
        found[ABSENT_DEVICE if number is None else int(number)] = [Lane(label, tuple(parts))]
    return found


def _recorded(rows: Sequence[Mapping[str, Cell]], names: Sequence[str]) -> Spans:
    ordered = sorted(zip(rows, names, strict=True), key=lambda pair: int(pair[0]["start"] or 0))
    return Spans.of(
        [row["start"] for row, _ in ordered],
        [row["end"] for row, _ in ordered],
        [name for _, name in ordered],
    )
