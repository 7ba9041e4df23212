"""`collectives/*` of a trace in plain Python, a microsecond at a time, and random traces of several ranks."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from overlap_lab.schema import Kind
from overlap_lab.trace import Source, Trace

__all__ = ["TAGS", "calculate_collectives", "collective_trace"]

US = 1_000
NAMES = ("ncclDevKernel_AllReduce", "ncclDevKernel_AllGather", "kernel", "copy")
TAGS = tuple(
    f"collectives/{name}"
    for name in ("count", "time", "exposed", "matched", "last", "waited", "waited/exposed", "awaited")
)


@dataclass(frozen=True)
class Op:
    number: int
    name: str
    device: int
    stream: int
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def times(self) -> set[int]:
        return set(range(self.start, self.end))


def agree(one: Op, other: Op) -> bool:
    return abs(one.end - other.end) <= min(one.length, other.length)


def calculate_collectives(trace: Trace) -> dict[int, dict[str, int | None]]:
    """By device; empty without a collective. Times of the trace are whole microseconds."""
    ops = [
        Op(
            row,
            trace.name_of(row),
            int(trace.device[row]),
            int(trace.stream[row]),
            int(trace.start_ns[row]) // US,
            int(trace.end_ns[row]) // US,
        )
        for row in range(len(trace))
        if trace.kind[row] in (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
    ]
    mine = [op for op in ops if op.name.startswith("nccl")]
    group = grouped(mine)
    last = {
        number: max(
            (op for op in mine if group.get(op.number) == number), key=lambda op: (op.start, -op.device)
        )
        for number in set(group.values())
    }
    found: dict[int, dict[str, int | None]] = {}
    awaited: Counter[int] = Counter()
    for device in sorted({op.device for op in ops}) if mine else []:
        here = [op for op in mine if op.device == device]
        others = set().union(*(op.times for op in ops if op.device == device and op not in here))
        time = set().union(*(op.times for op in here))
        waited: set[int] = set()
        exposed = 0
        for op in here:
            final = last[group[op.number]] if op.number in group else op
            if final is not op and agree(op, final):
                new = {at for at in op.times if at < final.start} - waited
                waited |= new
                exposed += len(new - others)
                awaited[final.device] += len(new - others)
        found[device] = {
            "collectives/count": len(here),
            "collectives/time": US * len(time),
            "collectives/exposed": US * len(time - others),
            "collectives/matched": sum(op.number in group for op in here),
            "collectives/last": sum(op in last.values() for op in here),
            "collectives/waited": US * len(waited),
            "collectives/waited/exposed": US * exposed,
            "collectives/awaited": 0,
        }
    for device, values in found.items():
        values["collectives/awaited"] = US * awaited[device]
        if values["collectives/count"] and not values["collectives/matched"]:
            values.update(dict.fromkeys(TAGS[4:]))
    return found


def grouped(ops: list[Op]) -> dict[int, int]:
    """The collective of each op that is known to share one."""
    group: dict[int, int] = {}
    lanes: dict[tuple[str, int, int], list[Op]] = {}
    for op in sorted(ops, key=lambda op: (op.start, op.end)):
        lanes.setdefault((op.name, op.device, op.stream), []).append(op)
    of_name: dict[str, list[list[Op]]] = {}
    for (name, _, _), lane in sorted(lanes.items()):
        of_name.setdefault(name, []).append(lane)
    for alike in of_name.values():
        alike.sort(key=lambda lane: (len(lane), sum(op.end for op in lane) / len(lane)))
        clusters: list[list[list[Op]]] = []
        for lane in alike:
            before = clusters[-1][-1] if clusters else []
            pairs = list(zip(before, lane, strict=True)) if len(before) == len(lane) else []
            if pairs and 2 * sum(agree(*pair) for pair in pairs) >= len(pairs):
                clusters[-1].append(lane)
            else:
                clusters.append([lane])
        for cluster in clusters:
            if len(cluster) > 1 and len({lane[0].device for lane in cluster}) == len(cluster):
                for lane in cluster:
                    group |= {op.number: leader.number for op, leader in zip(lane, cluster[0], strict=True)}
        join(alike, group, loose_only=False)
        while any(is_loose(lane, group) for lane in alike):
            join(alike, group, loose_only=True)
    sizes = Counter(group.values())
    return {op: number for op, number in group.items() if sizes[number] > 1}


def is_loose(lane: list[Op], group: dict[int, int]) -> bool:
    return not any(op.number in group for op in lane)


def join(lanes: list[list[Op]], group: dict[int, int], *, loose_only: bool) -> None:
    loose = [lane for lane in lanes if is_loose(lane, group)]
    known = [op for lane in lanes for op in lane if op.number in group]
    if loose and (loose_only or not known):
        known = loose.pop()
        group |= {op.number: op.number for op in known}
    members = {(group[op.number], op.device) for op in known}
    known.sort(key=lambda op: op.end)
    wanted: dict[tuple[int, int], list[tuple[int, Op]]] = {}
    for op in (op for lane in loose for op in lane):
        nearest = min(known, key=lambda one: (abs(one.end - op.end), one.end))
        if agree(op, nearest):
            key = (group[nearest.number], op.device)
            wanted.setdefault(key, []).append((abs(nearest.end - op.end), op))
    joined = {
        min(pairs, key=lambda pair: pair[0])[1].number: key[0]
        for key, pairs in wanted.items()
        if key not in members
    }
    for lane in loose:
        mine = {op.number: joined[op.number] for op in lane if op.number in joined}
        if 2 * len(mine) >= len(lane):
            group |= mine


def collective_trace(seed: int) -> Trace:
    """Some ranks with collectives that end together, other work beside them, and now and then a lost record,
    a rank with another clock, or several groups of ranks."""
    chance = random.Random(seed)
    devices = chance.randint(1, 5)
    groups = chance.random()
    offsets = [chance.choice([0] * 9 + [100_000]) for _ in range(devices)]
    late = chance.choice([*range(devices), -1])
    rows: list[tuple[int, int, int, int, int]] = []
    halves = [range(0, devices, 2), range(1, devices, 2)]
    pairs = [range(first, min(first + 2, devices)) for first in range(0, devices, 2)]
    for part in halves if groups < 0.2 else pairs if groups < 0.3 else [range(devices)]:
        at = chance.randint(0, 100)
        for _ in range(chance.randint(1, 8)):
            name, length = chance.randint(0, 1), chance.randint(1, 40)
            starts = {d: at + chance.randint(0, 30) + (20 if d == late else 0) for d in part}
            done = max(starts.values(), default=0) + length
            for device, start in starts.items():
                if chance.random() > 0.06:
                    end = max(done + chance.randint(-3, 3), start + 1)
                    rows.append((name, device, 7, start + offsets[device], end + offsets[device]))
            at = done + 5 + chance.randint(0, 20)
    for device in range(devices):
        at = offsets[device]
        for _ in range(chance.randint(1, 6)):
            at += chance.randint(0, 60)
            end = at + chance.randint(1, 40)
            rows.append((chance.randint(2, 3), device, 0, at, end))
            at = end
    columns = {
        "kind": [Kind.MEMCPY if row[0] == 3 else Kind.KERNEL for row in rows],
        "name": [row[0] for row in rows],
        "device": [row[1] for row in rows],
        "stream": [row[2] for row in rows],
        "start_ns": [row[3] * US for row in rows],
        "end_ns": [row[4] * US for row in rows],
        "process": [row[1] for row in rows],
    }
    return Trace.from_columns(columns, names=NAMES, source=Source())
