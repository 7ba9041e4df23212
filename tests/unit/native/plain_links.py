"""What the core finds about calls and ops, by plain loops."""

from __future__ import annotations

import numpy as np

from overlap_lab.link import OWNERS
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, DEVICE_KINDS, Kind
from overlap_lab.trace import Trace

__all__ = ["callers", "outer_calls", "overruns", "place_of"]

_NO_IDS = (0, 2**64 - 1)


def host_rows(trace: Trace) -> list[int]:
    return np.flatnonzero(trace.kind == Kind.API).tolist()


def op_rows(trace: Trace) -> list[int]:
    return np.flatnonzero(np.isin(trace.kind, DEVICE_KINDS)).tolist()


def callers(trace: Trace) -> list[int]:
    """Per op the index of the latest call of its id before it, else of the first; -1 for none."""
    host = host_rows(trace)
    owning = [(call, row) for call, row in enumerate(host) if trace.api[row] in OWNERS]
    found = []
    for op in op_rows(trace):
        mine = [
            (call, row)
            for call, row in owning
            if trace.correlation[op] == trace.correlation[row]
            and int(trace.correlation[op]) not in _NO_IDS
            and trace.part[op] == trace.part[row]
            and trace.process[op] in (ABSENT_PROCESS, trace.process[row])
        ]
        before = [call for call, row in mine if trace.start_ns[row] < trace.start_ns[op]]
        found.append(before[-1] if before else mine[0][0] if mine else -1)
    return found


def place_of(trace: Trace, op: int, call: int) -> tuple[int, int, int, int]:
    """Part, process, device and stream of an op: its own, else its call's."""

    def known(column: str, absent: int) -> int:
        own = int(getattr(trace, column)[op])
        return own if own != absent else int(getattr(trace, column)[call])

    return (
        int(trace.part[op]),
        known("process", ABSENT_PROCESS),
        known("device", ABSENT_DEVICE),
        known("stream", ABSENT),
    )


def outer_calls(trace: Trace) -> list[int]:
    """Per host call the outermost enqueue call around it, by meeting them one after the other."""
    host = host_rows(trace)
    found = list(range(len(host)))
    enqueue = [call for call, row in enumerate(host) if trace.api[row] in OWNERS]
    enqueue.sort(key=lambda call: (trace.start_ns[host[call]], -trace.end_ns[host[call]]))
    holders: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for call in enqueue:
        row = host[call]
        thread = int(trace.part[row]), int(trace.process[row]), int(trace.thread[row])
        start, end = int(trace.start_ns[row]), int(trace.end_ns[row])
        if thread in holders:
            its_start, its_end, its_call = holders[thread]
            behind = start == end == its_end and its_start < start
            if end <= its_end and not behind:
                found[call] = its_call
                continue
        holders[thread] = start, end, call
    return found


def overruns(
    start: list[int], end: list[int], place: list[int], in_turn: list[int], limits: tuple[int, int]
) -> tuple[int, set[tuple[int, int, int]]]:
    """How many ops overlap the next of their place, and (op, by how much, next start) of the others asked."""
    never = np.iinfo(np.int64).max
    asked, overlaps = set(), 0
    for one in range(len(in_turn)):
        mine = [op for op in range(len(start)) if place[op] == one]
        mine.sort(key=lambda op: (start[op], -end[op]))
        for at, op in enumerate(mine):
            if not in_turn[one] or at + 1 == len(mine):
                asked.add((op, -never, never))
                continue
            over = end[op] - start[mine[at + 1]]
            if over > limits[1]:
                asked.add((op, over, start[mine[at + 1]]))
            overlaps += limits[0] < over <= limits[1]
    return overlaps, asked
