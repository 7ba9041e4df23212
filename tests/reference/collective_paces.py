"""The paces of devices that share collectives in plain Python, a microsecond at a time, and random traces of
ranks whose hosts launch, wait and are late."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Api, Kind
from overlap_lab.trace import Source, Trace
from tests.reference.collectives import Op as Member
from tests.reference.collectives import agree, grouped
from tests.reference.machine import Machine, Op, read
from tests.reference.waits import Wait, judge

__all__ = ["PACE_TAGS", "calculate_paces", "rank_trace"]

US = 1_000
PACE_TAGS = tuple(f"collectives/{name}" for name in ("span", "launching", "work", "gain"))
NAMES = ("ncclDevKernel_AllReduce", "kernel", "launch", "synchronize", "other")
COLLECTIVE, KERNEL, LAUNCH, SYNC = range(4)


@dataclass
class Ends:
    """The first and the last shared collective of one device."""

    first: Op
    last: Op
    collective: list[Op]
    """All collective ops of the trace."""
    waits: dict[int, set[int]] = field(default_factory=dict)
    """By the device that it waited for."""


def calculate_paces(trace: Trace) -> dict[int, dict[str, int | None]]:
    """By device; every value null where no two collectives are shared by all with known launches."""
    machine = read(trace)
    rows = [row for row in range(len(trace)) if trace.kind[row] == Kind.KERNEL]
    of_row = dict(zip(rows, machine.ops, strict=True))
    members = [
        Member(row, trace.name_of(row), op.device, op.stream or 0, op.start, op.end)
        for row, op in of_row.items()
        if trace.name_of(row).startswith("nccl")
    ]
    group = grouped(members)
    devices = sorted({one.device for one in members if one.number in group})
    collectives: dict[int, list[Member]] = {}
    for one in sorted(members, key=lambda one: (one.start, one.device)):
        if one.number in group:
            collectives.setdefault(group[one.number], []).append(one)
    shared = [
        mine
        for mine in collectives.values()
        if {one.device for one in mine if of_row[one.number].call} == set(devices)
    ]
    shared.sort(key=lambda mine: max(one.start for one in mine))
    nothing = {device: dict.fromkeys(PACE_TAGS) for device in machine.devices}
    if len(devices) < 2 or len(shared) < 2:
        return nothing
    paces = {}
    for device in devices:
        first, last = (
            next(of_row[one.number] for one in mine if one.device == device)
            for mine in (shared[0], shared[-1])
        )
        ends = Ends(first, last, [of_row[one.number] for one in members])
        taken: set[int] = set()
        for mine in sorted(
            collectives.values(), key=lambda mine: next((o.start for o in mine if o.device == device), 0)
        ):
            own = next((one for one in mine if one.device == device), None)
            final = max(mine, key=lambda one: (one.start, -one.device))
            if own is not None and own is not final and agree(own, final):
                waited = {at for at in own.times if at < final.start} - taken
                taken |= waited
                ends.waits.setdefault(final.device, set()).update(waited)
        paces[device] = ends
    verdicts = judge(machine)
    found = {device: pace(machine, verdicts.waits, ends) for device, ends in paces.items()}
    for device, values in found.items():
        others = [one for one in found if one != device]
        slowest = max(max(found[one]["launching"], found[one]["work"]) for one in others)
        waited = min(found[one].get(f"for {device}", 0) for one in others)
        values["gain"] = max(0, min(values["span"] - slowest, waited))
    return nothing | {
        device: {f"collectives/{name}": US * values[name] for name in ("span", "launching", "work", "gain")}
        for device, values in found.items()
    }


def pace(machine: Machine, every_wait: list[Wait], ends: Ends) -> dict[str, int]:
    device = ends.first.device
    assert ends.first.call is not None
    assert ends.last.call is not None
    launched = set(range(ends.first.call.start, ends.last.call.start))
    started = set(range(ends.first.start, ends.last.start))
    mine = machine.on(device)
    threads = {op.call.thread for op in mine if op.call}
    waits = [wait for wait in every_wait if wait.call.thread in threads]
    blocked = {at for wait in waits for at in range(wait.call.start, wait.call.end)}
    busy = {at for op in mine for at in range(op.start, op.end)}
    other = {at for op in mine if op not in ends.collective for at in range(op.start, op.end)}
    waiting = set().union(*ends.waits.values()) - other
    return {
        "span": max(len(launched), len(started)),
        "launching": len(launched - blocked),
        "work": len(started & (busy - waiting)) + len(started & queued(mine, waits)),
    } | {f"for {whom}": len(times & started) for whom, times in ends.waits.items()}


def queued(ops: list[Op], waits: list[Wait]) -> set[int]:
    """Idle time whose next op had been launched when it began, and which no wait made."""
    result: set[int] = set()
    returns = {wait.call.end for wait in waits}
    for after in ops:
        before = [op for op in ops if op.start < after.start]
        reached = max((op.end for op in before), default=after.start)
        drained = any(op.end <= at <= after.enqueued for at in returns for op in before if op.end == reached)
        if reached < after.start and after.enqueued < reached and not drained:
            result |= set(range(reached, after.start))
    return result


def rank_trace(seed: int) -> Trace:
    """Ranks of a process each: kernels before each collective, launches and kernels of a length of their own,
    a synchronize now and then, and sometimes a launch without a record."""
    chance = random.Random(seed)
    ranks = chance.randint(2, 4)
    own = chance.random() < 0.5
    host = [chance.randint(1, 6) for _ in range(ranks)]
    work = [chance.randint(1, 8) for _ in range(ranks)]
    at, free = [0] * ranks, [0] * ranks
    rows: list[dict[str, int]] = []
    numbers = iter(range(1, 1_000))

    def launch(rank: int, *, known: bool = True) -> tuple[int, int]:
        number = next(numbers)
        start = at[rank]
        at[rank] += chance.randint(1, host[rank])
        if known:
            rows.append(row(Kind.API, LAUNCH, rank, start, start + 1, number, Api.LAUNCH))
        return start, number

    for _ in range(chance.randint(2, 5)):
        starts, ids = [], []
        for rank in range(ranks):
            for _ in range(chance.randint(0, 4)):
                called, number = launch(rank)
                start = max(called + chance.randint(1, 2), free[rank] + chance.choice((0, 0, 1)))
                free[rank] = start + chance.randint(1, work[rank])
                rows.append(row(Kind.KERNEL, KERNEL, rank, start, free[rank], number))
            known = chance.random() > 0.03
            called, number = launch(rank, known=known)
            starts.append(max(called + 1, free[rank]))
            ids.append(number)
        end = max(starts) + chance.randint(1, 4)
        for rank in range(ranks):
            stream = 7 if own else 0
            rows.append(row(Kind.KERNEL, COLLECTIVE, rank, starts[rank], end, ids[rank], stream=stream))
            free[rank] = end
            if chance.random() < 0.4:
                begun = at[rank]
                at[rank] = max(begun + 1, end + 1)
                rows.append(row(Kind.API, SYNC, rank, begun, at[rank], next(numbers), Api.DEVICE_SYNC))
    columns = {name: [one[name] for one in rows] for name in rows[0]}
    return Trace.from_columns(columns, names=NAMES, source=Source())


def row(
    kind: Kind, name: int, rank: int, start: int, end: int, number: int, api: Api = Api.NONE, stream: int = 0
) -> dict[str, int]:
    is_host = kind == Kind.API
    return {
        "kind": kind,
        "api": api,
        "name": name,
        "device": ABSENT_DEVICE if is_host else rank,
        "stream": ABSENT if is_host else stream,
        "start_ns": start * US,
        "end_ns": end * US,
        "process": 10 + rank,
        "thread": 1 if is_host else ABSENT,
        "correlation": number,
    }
