"""The waits of a trace by place in the program, the costliest first, with what a person needs to act."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.metrics.context import Context
from overlap_lab.render.numbers import records
from overlap_lab.report import Cell, Report
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, CopyKind, Kind, Memory, Reason

__all__ = ["COPY_OPS", "CostlyWait", "costly_waits"]

COPY_OPS: Final = frozenset({"aten::copy_", "aten::_to_copy", "aten::to"})
"""Framework ops that copy, and wait for their copy where the host memory is pageable."""

_NUMBER: Final = re.compile(r"\d+")
_STEP: Final = re.compile(r"(?i)\b(profiler)?step\b|\bstep *#? *\d|iteration|backward|forward|train")

_MOST_LOOKED_UP: Final = 50

_Numbered = tuple[int, dict[str, Cell]]
"""A wait by its number, and its row."""


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

    Without `context` the stacks and copies stay unknown; with it, the first 50 places have them.
    """
    places: dict[tuple[Cell, ...], list[_Numbered]] = {}
    rows = records(report.tables.get("waits"))
    known = context is not None and len(rows) == context.waits.row.size
    copies = _copies(context if known else None, len(rows))
    for at, wait in enumerate(rows):
        around = _NUMBER.sub("*", str(wait.get("range"))) if wait.get("range") else None
        words = (wait.get(key) for key in ("call", "reason", "op", "frame"))
        places.setdefault((*words, around, copies[at]), []).append((at, wait))
    found = sorted(
        ((_place([wait for _, wait in waits]), waits) for waits in _framework_copies(list(places.values()))),
        key=lambda one: (-one[0].idle_ns, -one[0].before_the_end_ns, one[0].call),
    )
    if context is None or not known:
        return [one for one, _ in found]
    costs = _drain_costs(context)
    first = [_looked_up(one, context, waits, costs) for one, waits in found[:_MOST_LOOKED_UP]]
    return [*first, *(one for one, _ in found[_MOST_LOOKED_UP:])]


def _framework_copies(places: Sequence[list[_Numbered]]) -> list[list[_Numbered]]:
    """The places; a pageable copy and the synchronize with which a framework op waits for it are one.

    Not where it copies both ways: nothing says which copy a synchronize was for.
    """
    merged: dict[tuple[Cell, ...], list[list[_Numbered]]] = {}
    for number, waits in enumerate(places):
        first = waits[0][1]
        reason, op = str(first.get("reason")), str(first.get("op"))
        is_copy = op in COPY_OPS and reason in (Reason.PAGEABLE_COPY, Reason.STREAM_SYNC)
        around = _NUMBER.sub("*", str(first.get("range")))
        key = (op, first.get("frame"), around) if is_copy else (number,)
        merged.setdefault(key, []).append(waits)
    found: list[list[_Numbered]] = []
    for parts in merged.values():
        copies = sum(part[0][1].get("reason") == Reason.PAGEABLE_COPY for part in parts)
        found += parts if copies > 1 else [[wait for part in parts for wait in part]]
    return found


def _copies(context: Context | None, count: int) -> list[int | None]:
    """Which way each wait copied: reading back and sending are two things to act on."""
    found: list[int | None] = [None] * count
    if context is not None and context.waits.row.size == count:
        waits, trace = context.waits, context.trace
        rows = context.links.op[waits.own_op]
        for wait, kind, way in zip(
            waits.own_call.tolist(), trace.kind[rows].tolist(), trace.copy_kind[rows].tolist(), strict=True
        ):
            found[wait] = way if kind == Kind.MEMCPY else found[wait]
    return found


def _longest(waits: Sequence[_Numbered]) -> _Numbered:
    """The one that cost the device most, else the host."""
    return max(waits, key=lambda one: (_count(one[1], "idle_caused"), _count(one[1], "blocked")))


def _count(wait: Mapping[str, Cell], key: str) -> int:
    return int(wait.get(key) or 0)


def _place(waits: Sequence[dict[str, Cell]]) -> CostlyWait:
    longest = _longest(list(enumerate(waits)))[1]
    around, op, frame = (
        str(longest.get(key)) if longest.get(key) else None for key in ("range", "op", "frame")
    )
    reasons = {str(wait.get("reason")) for wait in waits}
    kinds = {str(wait.get("call")): 0 for wait in waits}
    return CostlyWait(
        call=" + ".join(sorted(kinds)),
        reason=str(longest.get("reason")) if len(reasons) == 1 else Reason.PAGEABLE_COPY,
        range=around,
        op=op,
        frame=frame,
        count=len(waits),
        final=sum(bool(wait.get("terminal")) for wait in waits),
        drains=sum(bool(wait.get("drained")) for wait in waits),
        blocked_ns=sum(_count(wait, "blocked") for wait in waits),
        idle_ns=sum(_count(wait, "idle_caused") for wait in waits),
        start_ns=_count(longest, "start"),
        end_ns=_count(longest, "end"),
        in_step=len(waits) >= 3 or bool(_STEP.search(around or "")),
        calls=tuple(sorted(kinds)),
        ranges=tuple(name for name, _ in _by_cost(waits, _range_of)),
        threads=tuple((name, ns) for name, (_, ns) in _by_cost(waits, _thread_of, first=1)),
        final_ns=sum(_count(wait, "blocked") for wait in waits if wait.get("terminal")),
        longest_ns=max((_count(wait, "blocked") for wait in waits if not wait.get("terminal")), default=0),
        costliest_ns=_count(longest, "idle_caused"),
    )


def _range_of(wait: Mapping[str, Cell]) -> str:
    return str(wait.get("range") or "")


def _thread_of(wait: Mapping[str, Cell]) -> str:
    return f"thread {wait.get('thread')} of process {wait.get('process')}"


def _by_cost(
    waits: Sequence[dict[str, Cell]], name_of: Callable[[Mapping[str, Cell]], str], *, first: int = 0
) -> list[tuple[str, tuple[int, int]]]:
    """Idle and blocked time by name, the largest first; `first` says by which of the two."""
    sums: dict[str, tuple[int, int]] = {}
    for wait in waits:
        name = name_of(wait)
        idle, blocked = sums.get(name, (0, 0))
        sums[name] = (idle + _count(wait, "idle_caused"), blocked + _count(wait, "blocked"))
    found = [(name, sums[name]) for name in sums if name]
    return sorted(found, key=lambda one: (-one[1][first], -one[1][1 - first], one[0]))


def _drain_costs(context: Context) -> dict[int, list[tuple[int, tuple[int, int, int]]]]:
    """By wait: each device that it drained, with the three parts of what that cost."""
    costs: dict[int, list[tuple[int, tuple[int, int, int]]]] = {}
    for device, drains in context.drains.items():
        columns = (drains.start, drains.returned, drains.enqueued, drains.end)
        edges = zip(*(_clipped(column, context.window).tolist() for column in columns), strict=True)
        for wait, (start, returned, enqueued, end) in zip(drains.wait.tolist(), edges, strict=True):
            parts = (returned - start, enqueued - returned, end - enqueued)
            costs.setdefault(wait, []).append((device, parts))
    return costs


def _clipped(times: Ints, window: tuple[int, int] | None) -> Ints:
    return times if window is None else np.clip(times, *window)


def _looked_up(
    one: CostlyWait,
    context: Context,
    waits: Sequence[_Numbered],
    costs: Mapping[int, list[tuple[int, tuple[int, int, int]]]],
) -> CostlyWait:
    """With the stack and the copy of the longest of these waits, and what their idle time is made of."""
    trace, wait = context.trace, _longest(waits)[0]
    devices: dict[int | None, int] = {}
    parts = [0, 0, 0]
    for number, _ in waits:
        for device, lengths in costs.get(number, ()):
            parts = [total + more for total, more in zip(parts, lengths, strict=True)]
            known = None if device == ABSENT_DEVICE else device
            devices[known] = devices.get(known, 0) + sum(lengths)
    behind_return = max((lengths[1] + lengths[2] for _, lengths in costs.get(wait, ())), default=0)
    found = replace(
        one,
        stack=_stack(context, int(context.waits.row[wait])),
        parts=(parts[0], parts[1], parts[2]) if one.drains else None,
        devices=tuple(sorted(devices.items(), key=lambda pair: -pair[1])),
        end_ns=one.end_ns + behind_return,
    )
    mine = [number for number, _ in waits]
    ops = context.links.op[context.waits.own_op[np.isin(context.waits.own_call, mine)]]
    copies = ops[trace.kind[ops] == Kind.MEMCPY]
    if not copies.size:
        return found
    row = int(copies[0])
    size = int(trace.bytes[row])
    return replace(
        found,
        bytes=None if size == ABSENT else size,
        copy=CopyKind(int(trace.copy_kind[row])),
        memory=Memory(int(trace.memory[row])),
    )


def _stack(context: Context, row: int) -> tuple[str, ...]:
    """Names of the ranges, ops and frames of a call's thread that are open while it runs."""
    trace = context.trace
    until = int(np.searchsorted(trace.start_ns, trace.start_ns[row], side="right"))
    open_ = np.flatnonzero(
        np.isin(trace.kind[:until], (Kind.RANGE, Kind.CPU_OP, Kind.PYTHON))
        & (trace.end_ns[:until] >= trace.end_ns[row])
        & (trace.thread[:until] == trace.thread[row])
        & (trace.process[:until] == trace.process[row])
        & (trace.part[:until] == trace.part[row])
    )
    return tuple(trace.name_of(int(one)) for one in open_)
