"""The waits of a trace by place in the program, the costliest first, with what a person needs to act."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, gather
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.places import names_of, near_waits
from overlap_lab.metrics.tables import waits_inside
from overlap_lab.render.wait_rows import WaitRows, wait_rows
from overlap_lab.report import Cell, Report
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, CopyKind, Kind, Memory, Reason

__all__ = ["CostlyWait", "costly_waits"]

_STEP: Final = re.compile(r"(?i)\b(profiler)?step\b|\bstep *#? *\d|iteration|backward|forward|train")
_MOST_LOOKED_UP: Final = 50
_OFTEN: Final = 3


@dataclass(frozen=True, slots=True)
class CostlyWait:
    """All waits of one place: the same call, reason, op and line, in ranges that differ only by numbers."""

    call: str
    reason: str
    range: str | None
    op: str | None
    frame: str | None
    count: int
    final: int
    """How many of them had no device work after them."""
    drains: int
    blocked_ns: int
    idle_ns: int
    """Device idle time that their drains cost."""
    start_ns: int
    """The costliest of them, after the trace's first record, to the end of the idle time that it caused."""
    end_ns: int
    in_step: bool
    """Whether a range around it reads like a step, or it came back at least three times."""
    stack: tuple[str, ...] = ()
    """Ranges, ops and Python frames around the longest one, the outermost first."""
    bytes: int | None = None
    """Of the copy that it made."""
    copy: CopyKind | None = None
    memory: Memory = Memory.UNKNOWN
    calls: tuple[str, ...] = ()
    """The calls, where a framework op makes several for one wait."""
    ranges: tuple[str, ...] = ()
    """The ranges around them, the costliest first."""
    threads: tuple[tuple[str, int], ...] = ()
    """Blocked time by thread, the longest first."""
    devices: tuple[tuple[int | None, int], ...] = ()
    """Device idle time by the device that they drained."""
    final_ns: int = 0
    """Blocked time of the final ones."""
    longest_ns: int = 0
    """Blocked time of the one that blocked longest, but for final ones."""
    costliest_ns: int = 0
    """Device idle time of the one that cost most."""
    parts: tuple[int, int, int] | None = None
    """Their idle time until the calls returned, until the next launch began, and until its op started."""
    is_looked_up: bool = False
    """Whether it is among the first places, of which all of this is known."""

    @property
    def waits(self) -> int:
        """How many of them had device work after them."""
        return self.count - self.final

    @property
    def before_the_end_ns(self) -> int:
        """Blocked time of those that had device work after them."""
        return self.blocked_ns - self.final_ns


def costly_waits(report: Report, context: Context | None) -> list[CostlyWait]:
    """The places that wait, the costliest first: by device idle time, then by blocked time before the end.

    The first 50 are looked up: their ranges and threads, and with `context` their stacks and copies.
    """
    number = None if context is None else waits_inside(context)
    rows = wait_rows(report, lambda size: _copies(context, number, size))
    if rows is None:
        return []
    found = _in_numbers(rows)
    ranked = sorted(
        range(len(found)),
        key=lambda place: (-found[place].idle_ns, -found[place].before_the_end_ns, found[place].call),
    )
    first = ranked[:_MOST_LOOKED_UP]
    told = [_with_names(found[place], rows, place) for place in first]
    if context is not None and number is not None and number.size == rows.place.size:
        looked = _Lookup(context, rows, number, first)
        told = [looked.up(one, at) for at, one in enumerate(told)]
    return [*told, *(found[place] for place in ranked[_MOST_LOOKED_UP:])]


def _copies(context: Context | None, number: Ints | None, size: int) -> Sequence[int | None]:
    """Which way each wait copied: reading back and sending are two things to act on."""
    if context is None or number is None or number.size != size:
        return [None] * size
    waits, trace = context.waits, context.trace
    rows = context.links.op[waits.own_op]
    is_copy = trace.kind[rows] == Kind.MEMCPY
    way = np.full(waits.row.size, -1, np.int64)
    way[waits.own_call[is_copy]] = trace.copy_kind[rows[is_copy]]
    return list(way[number].tolist())


def _in_numbers(rows: WaitRows) -> list[CostlyWait]:
    """The places as they come, with what the columns say of all of them."""
    longest = np.array([members[0] for members in rows.members])
    most = [int(rows.before_the_end[members].max()) for members in rows.members]
    sums = zip(
        *(rows.sums(of) for of in (np.ones_like(rows.final), rows.final, rows.drained)),
        *(rows.sums(of) for of in (rows.blocked, rows.idle, rows.blocked - rows.before_the_end)),
        strict=True,
    )
    found = []
    for place, (count, final, drains, blocked, idle, at_end) in enumerate(sums):
        wait, calls = int(longest[place]), sorted({call for call, _ in rows.names[place]})
        reasons = {reason for _, reason in rows.names[place]}
        around = rows.text("range", wait)
        found.append(
            CostlyWait(
                call=" + ".join(calls),
                reason=reasons.pop() if len(reasons) == 1 else Reason.PAGEABLE_COPY,
                range=around,
                op=rows.text("op", wait),
                frame=rows.text("frame", wait),
                count=count,
                final=final,
                drains=drains,
                blocked_ns=blocked,
                idle_ns=idle,
                start_ns=int(rows.cells["start"][wait] or 0),
                end_ns=int(rows.cells["end"][wait] or 0),
                in_step=count >= _OFTEN or bool(_STEP.search(around or "")),
                calls=tuple(calls),
                final_ns=at_end,
                longest_ns=most[place],
                costliest_ns=int(rows.idle[wait]),
            )
        )
    return found


def _with_names(one: CostlyWait, rows: WaitRows, place: int) -> CostlyWait:
    """With the ranges around them and their threads."""
    ranges = [(str(name), idle, ns) for (name,), idle, ns in rows.by_cost(place, "range") if name]
    threads = [(_thread(*who), idle, ns) for who, idle, ns in rows.by_cost(place, "thread", "process")]
    ranges.sort(key=lambda each: (-each[1], -each[2], each[0]))
    threads.sort(key=lambda each: (-each[2], -each[1], each[0]))
    return replace(
        one,
        ranges=tuple(name for name, _, _ in ranges),
        threads=tuple((name, ns) for name, _, ns in threads),
        is_looked_up=True,
    )


def _thread(thread: Cell, process: Cell) -> str:
    return f"thread {thread} of process {process}"


class _Lookup:
    """What the trace says of the first places."""

    def __init__(self, context: Context, rows: WaitRows, number: Ints, first: Sequence[int]) -> None:
        self._context = context
        self._longest = [int(number[rows.members[place][0]]) for place in first]
        rank = np.full(len(rows.names), -1, np.int64)
        rank[np.array(first, np.int64)] = np.arange(len(first))
        self._rank_of_wait = np.full(context.waits.row.size, -1, np.int64)
        self._rank_of_wait[number] = rank[rows.place]
        self._wait, self._device, self._parts = _drain_costs(context)
        self._rank_of_drain = self._rank_of_wait[self._wait]
        self._rank_of_own = self._rank_of_wait[context.waits.own_call]

    def up(self, one: CostlyWait, rank: int) -> CostlyWait:
        """With the stack and the copy of the longest of these waits, and what their idle time is made of."""
        mine = np.flatnonzero(self._rank_of_drain == rank)
        devices: dict[int | None, int] = {}
        for device, ns in zip(
            self._device[mine].tolist(), self._parts[mine].sum(axis=1).tolist(), strict=True
        ):
            known = None if device == ABSENT_DEVICE else device
            devices[known] = devices.get(known, 0) + ns
        returned, refill, launch = self._parts[mine].sum(axis=0).tolist()
        its = mine[self._wait[mine] == self._longest[rank]]
        return replace(
            self._with_copy(one, rank),
            stack=_stack(self._context, self._longest[rank]),
            parts=(returned, refill, launch) if one.drains else None,
            devices=tuple(sorted(devices.items(), key=lambda pair: -pair[1])),
            end_ns=one.end_ns + int(self._parts[its, 1:].sum(axis=1).max(initial=0)),
        )

    def _with_copy(self, one: CostlyWait, rank: int) -> CostlyWait:
        trace, context = self._context.trace, self._context
        ops = context.links.op[context.waits.own_op[self._rank_of_own == rank]]
        copies = ops[trace.kind[ops] == Kind.MEMCPY]
        if not copies.size:
            return one
        row = int(copies[0])
        size = int(trace.bytes[row])
        return replace(
            one,
            bytes=None if size == ABSENT else size,
            copy=CopyKind(int(trace.copy_kind[row])),
            memory=Memory(int(trace.memory[row])),
        )


def _drain_costs(context: Context) -> tuple[Ints, Ints, Ints]:
    """The wait of each drain, its device, and the three parts of what it cost in the window."""
    wait, device = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    parts = [np.zeros((0, 3), np.int64)]
    for number, drains in context.drains.items():
        edges = np.stack([drains.start, drains.returned, drains.enqueued, drains.end], axis=1)
        parts.append(np.diff(edges if context.window is None else np.clip(edges, *context.window), axis=1))
        wait.append(drains.wait)
        device.append(np.full(drains.wait.size, number, np.int64))
    return np.concatenate(wait), np.concatenate(device), np.concatenate(parts)


def _stack(context: Context, wait: int) -> tuple[str, ...]:
    """Names of the ranges, ops and frames of a call's thread that are open while it runs."""
    trace, row = context.trace, context.waits.row[wait]
    near, thread = near_waits(context)
    mine = near[thread == context.waits.thread[wait]]
    around = (gather(trace.start_ns, mine) <= trace.start_ns[row]) & (
        gather(trace.end_ns, mine) >= trace.end_ns[row]
    )
    return tuple(names_of(trace, np.sort(mine[around])))
