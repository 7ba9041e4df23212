"""The waits of a trace by place in the program, the costliest first, with what a person needs to act."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab.metrics.context import Context
from overlap_lab.render.numbers import records
from overlap_lab.report import Cell, Report
from overlap_lab.schema import ABSENT, CopyKind, Kind, Memory

__all__ = ["CostlyWait", "costliest", "costly_waits"]

_NUMBER: Final = re.compile(r"\d+")
_STEP: Final = re.compile(r"(?i)\b(profiler)?step\b|\bstep *#? *\d|iteration|backward|forward|train")


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
    """The longest of them, after the trace's first record."""
    end_ns: int
    in_step: bool
    """Whether a range around it reads like a step, or it came back at least three times."""
    stack: tuple[str, ...] = ()
    """Ranges, ops and Python frames around the longest one, the outermost first."""
    bytes: int | None = None
    """Of the copy that it made."""
    copy: CopyKind | None = None
    memory: Memory = Memory.UNKNOWN


def costly_waits(report: Report, context: Context | None, *, most: int = 10) -> list[CostlyWait]:
    """The places that cost the most: device idle time first, then blocked time.

    Without `context` the stacks and copies stay unknown.
    """
    return costliest(report, context, most=most)[0]


def costliest(report: Report, context: Context | None, *, most: int = 10) -> tuple[list[CostlyWait], int]:
    """The same, and how many places that wait there are in all."""
    places: dict[tuple[Cell, ...], list[tuple[int, dict[str, Cell]]]] = {}
    rows = records(report.tables.get("waits"))
    copies = _copies(context, len(rows))
    for at, wait in enumerate(rows):
        around = _NUMBER.sub("*", str(wait.get("range"))) if wait.get("range") else None
        words = (wait.get(key) for key in ("call", "reason", "op", "frame"))
        places.setdefault((*words, around, copies[at]), []).append((at, wait))
    found = sorted(
        ((_place([wait for _, wait in waits]), waits) for waits in places.values()),
        key=lambda one: (-one[0].idle_ns, -one[0].blocked_ns, one[0].call),
    )
    if context is None or len(rows) != context.waits.row.size:
        return [one for one, _ in found[:most]], len(found)
    return [_looked_up(one, context, _longest(waits)[0]) for one, waits in found[:most]], len(found)


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


def _longest(waits: Sequence[tuple[int, dict[str, Cell]]]) -> tuple[int, dict[str, Cell]]:
    return max(waits, key=lambda one: (int(one[1].get("idle_caused") or 0), int(one[1].get("blocked") or 0)))


def _place(waits: Sequence[dict[str, Cell]]) -> CostlyWait:
    longest = _longest(list(enumerate(waits)))[1]
    around, op, frame = (
        str(longest.get(key)) if longest.get(key) else None for key in ("range", "op", "frame")
    )
    return CostlyWait(
        call=str(longest.get("call")),
        reason=str(longest.get("reason")),
        range=around,
        op=op,
        frame=frame,
        count=len(waits),
        final=sum(bool(wait.get("terminal")) for wait in waits),
        drains=sum(bool(wait.get("drained")) for wait in waits),
        blocked_ns=sum(int(wait.get("blocked") or 0) for wait in waits),
        idle_ns=sum(int(wait.get("idle_caused") or 0) for wait in waits),
        start_ns=int(longest.get("start") or 0),
        end_ns=int(longest.get("end") or 0),
        in_step=len(waits) >= 3 or bool(_STEP.search(around or "")),
    )


def _looked_up(one: CostlyWait, context: Context, wait: int) -> CostlyWait:
    """With the stack and the copy of the longest of these waits, by its number."""
    trace, waits = context.trace, context.waits
    found = replace(one, stack=_stack(context, int(waits.row[wait])))
    ops = context.links.op[waits.own_op[waits.own_call == wait]]
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
