"""Which host calls waited, for which ops, and why: measures 2, by loops over calls and ops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from overlap_lab.schema import ALWAYS_WAITS, MAY_WAIT, Api, CopyKind, Fault, Memory, Reason
from tests.reference.machine import Call, Machine, Op, devices_of

__all__ = [
    "NEAR",
    "SLACK",
    "Scope",
    "Verdicts",
    "Wait",
    "depth",
    "judge",
    "outstanding",
    "quantile",
    "scope_of",
]

FLOOR, FLOOR_MOST, FLOOR_CALLS = 20, 100, 1_000
NEAR = 20
SLACK = 10
LAUNCHES = (Api.LAUNCH, Api.GRAPH_LAUNCH)
REASONS = {
    Api.STREAM_SYNC: Reason.STREAM_SYNC,
    Api.DEVICE_SYNC: Reason.DEVICE_SYNC,
    Api.CONTEXT_SYNC: Reason.DEVICE_SYNC,
    Api.EVENT_SYNC: Reason.EVENT_SYNC,
    Api.MEMCPY: Reason.SYNC_COPY,
    Api.MEMCPY_ASYNC: Reason.PAGEABLE_COPY,
    Api.ALLOC: Reason.ALLOC_FREE,
    Api.FREE: Reason.ALLOC_FREE,
    Api.HOST_ALLOC: Reason.ALLOC_FREE,
    Api.HOST_FREE: Reason.ALLOC_FREE,
    Api.LAUNCH: Reason.QUEUE_FULL,
    Api.GRAPH_LAUNCH: Reason.QUEUE_FULL,
    Api.MODULE_LOAD: Reason.MODULE_LOAD,
}
Scope = Callable[[Op], bool]


@dataclass(eq=False, slots=True)
class Wait:
    call: Call
    ops: list[Op]
    """What it waited for, as far as recorded."""
    reason: Reason
    explicit: bool
    held_by: tuple[Wait, ...] = ()
    """For a lock: the waits of other threads that it waited for."""

    @property
    def bound(self) -> int:
        """Where its device-bound part ends."""
        ends = [op.end for op in self.ops] + [wait.bound for wait in self.held_by]
        return min(max([self.call.start, *ends]), self.call.end)


@dataclass(eq=False, slots=True)
class Verdicts:
    waits: list[Wait]
    redundant: list[Call]
    unknown: list[Call]


def quantile(values: list[int], share: Fraction) -> Fraction:
    """By linear interpolation between the sorted values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def outstanding(ops: list[Op], at: int) -> list[Op]:
    return [op for op in ops if op.enqueued < at < op.end]


def scope_of(machine: Machine, call: Call) -> Scope:
    """What the return of a call can depend on, in its own process (measures 1)."""
    row = next(
        (
            row
            for row in machine.sync_rows
            if call.api in (Api.STREAM_SYNC, Api.EVENT_SYNC)
            and row.correlation == call.correlation != 0
            and (row.part, row.process) == (call.part, call.process)
            and row.stream is not None
        ),
        None,
    )
    if row:
        on_stream = _stream_scope(machine, call, row.stream)
        record = [
            c
            for c in machine.calls
            if c.api == Api.EVENT_RECORD
            and c.correlation == row.wait_correlation != 0
            and (c.part, c.process) == (call.part, call.process)
            and c.start < call.start
        ]
        before = record[-1].start if record else call.start
        is_null = row.stream in machine.source.null_streams
        devices = devices_of(machine, call)
        return lambda op: (
            op.process == call.process
            and (op.device in devices or not (is_null or call.device is not None))
            and on_stream(op)
            and op.enqueued < before
        )
    devices = devices_of(machine, call)
    if call.stream is not None and call.api not in (Api.DEVICE_SYNC, Api.CONTEXT_SYNC):
        on_stream = _stream_scope(machine, call, call.stream)
        return lambda op: op.process == call.process and op.device in devices and on_stream(op)
    return lambda op: op.process == call.process and op.device in devices


def _stream_scope(machine: Machine, call: Call, stream: int | None) -> Scope:
    nulls, nonblocking = machine.source.null_streams, machine.source.nonblocking_streams
    if stream not in nulls:
        return lambda op: op.stream == stream
    own_end = max((op.end for op in call.ops), default=None)
    ran_on = {
        op.stream
        for op in machine.ops
        if own_end is not None
        and op.process == call.process
        and op.stream not in nulls
        and op.enqueued < call.start
        and op.end > own_end
    }
    return lambda op: op.stream not in nonblocking and op.stream not in ran_on


def depth(machine: Machine, device: int, at: int) -> int:
    """Ops enqueued and not ended; one graph launch counts once (measures 6)."""
    units: dict[object, list[Op]] = {}
    for op in machine.on(device):
        units.setdefault(op.call if op.call and op.call.api == Api.GRAPH_LAUNCH else op, []).append(op)
    count = 0
    for ops in units.values():
        enqueued = any(op.start <= at or (op.call is not None and op.call.end <= at) for op in ops)
        count += enqueued and any(op.end > at for op in ops)
    return count


def judge(machine: Machine) -> Verdicts:
    """Every call that waited, every redundant synchronize, every long wait for something not in the file."""
    judge_ = _Judge(machine)
    verdicts = Verdicts([], [], [])
    for call in machine.calls:
        if call.api in ALWAYS_WAITS:
            judge_.always(call, verdicts)
        elif call.api in MAY_WAIT and call.api not in (Api.STREAM_WAIT_EVENT, Api.EVENT_RECORD):
            judge_.may(call, verdicts)
    judge_.locks(verdicts)
    return verdicts


class _Judge:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.scopes = {call: scope_of(machine, call) for call in machine.calls}
        self.floors: dict[str, Fraction] = {}
        for name in {call.name for call in machine.calls}:
            idle = [c.duration for c in machine.calls if c.name == name and not self.open(c)]
            if len(idle) >= FLOOR_CALLS:
                p99 = quantile(idle, Fraction(99, 100))
                self.floors[name] = max(Fraction(FLOOR), min(Fraction(FLOOR_MOST), p99))
        self.partial = (
            bool(machine.source.faults.get(Fault.TRUNCATED))
            or any(op.call is None for op in machine.ops)
            or any(should_own(call) and not call.ops for call in machine.calls)
        )

    def open(self, call: Call) -> list[Op]:
        """What was outstanding in its scope when the call started."""
        return outstanding([op for op in self.machine.ops if self.scopes[call](op)], call.start)

    def is_long(self, call: Call, floors: int = 1) -> bool:
        return call.duration > floors * self.floors.get(call.name, Fraction(FLOOR))

    def then(self, call: Call) -> list[Op]:
        """Outstanding ops that ended inside the call and shortly before its return."""
        return [op for op in self.open(call) if is_then(op.end, call)]

    def always(self, call: Call, verdicts: Verdicts) -> None:
        ops = [op for op in self.open(call) if op.end <= call.end + SLACK]
        if call.api == Api.MEMCPY:
            ops += [op for op in call.ops if op.end <= call.end + SLACK and op not in ops]
            waited = bool(ops) or not call.ops
        else:
            waited = bool(ops)
        if waited:
            verdicts.waits.append(Wait(call, ops, REASONS[Api(call.api)], explicit=True))
        elif call.api != Api.MEMCPY:
            first = next(c for c in self.machine.calls if (c.part, c.process) == (call.part, call.process))
            unknown = self.is_long(call) and not self.open(call) and (self.partial or call is first)
            (verdicts.unknown if unknown else verdicts.redundant).append(call)

    def may(self, call: Call, verdicts: Verdicts) -> None:
        if not self.is_long(call):
            return
        evidence = self.then(call)
        if call.api == Api.MEMCPY_ASYNC:
            evidence += self.own_copies(call)
        elif call.api in LAUNCHES:
            evidence = evidence if self.queue_was_full(call) else []
        elif call.api not in (Api.MEMSET, Api.MEMSET_ASYNC):
            every = self.open(call)
            evidence = evidence and (every if all(op.end <= call.end for op in every) else [])
        if evidence:
            pinned = any(op.memory == Memory.PINNED for op in call.ops)
            reason = Reason.OTHER if pinned else REASONS.get(Api(call.api), Reason.OTHER)
            verdicts.waits.append(Wait(call, evidence, reason, explicit=False))

    def own_copies(self, call: Call) -> list[Op]:
        found = []
        for op in call.ops:
            on_device = op.copy_kind == CopyKind.DEVICE_TO_DEVICE and self.machine.source.vendor == "nvidia"
            if op.memory == Memory.PINNED or on_device or not call.start <= op.start <= call.end:
                continue
            floor = self.floors.get(call.name, Fraction(FLOOR))
            if op.end <= call.end or call.end - op.start > floor:
                found.append(op)
        return found

    def launchdevices_of(self, call: Call) -> set[int]:
        return {op.device for op in call.ops} or devices_of(self.machine, call)

    def queue_was_full(self, call: Call) -> bool:
        if not self.then(call):
            return False
        for device in self.launchdevices_of(call):
            mine = depth(self.machine, device, call.start)
            rivals = [
                c
                for c in self.machine.calls
                if c.api in LAUNCHES
                and not c.captured
                and device in self.launchdevices_of(c)
                and depth(self.machine, device, c.start) >= mine
            ]
            stuck = sum(self.is_long(c) and bool(self.then(c)) for c in rivals)
            if stuck >= 2 and stuck * 4 >= 3 * len(rivals):
                return True
        return False

    def locks(self, verdicts: Verdicts) -> None:
        waits = list(verdicts.waits)
        for call in self.machine.calls:
            if call.api not in (Api.STREAM_WAIT_EVENT, Api.EVENT_RECORD) or not self.is_long(call):
                continue
            ops = self.then(call) if self.is_long(call, floors=5) else []
            others = [w for w in waits if w.call.thread != call.thread and w.call.process == call.process]
            held = [w for w in others if w.call.start < call.start and is_then(w.call.end, call)]
            if held:
                verdicts.waits.append(Wait(call, [], Reason.LOCK, explicit=False, held_by=tuple(held)))
            elif ops:
                verdicts.waits.append(Wait(call, ops, Reason.OTHER, explicit=False))


def is_then(end: int, call: Call) -> bool:
    return call.start < end <= call.end and call.end - end <= NEAR


def should_own(call: Call) -> bool:
    """A launch, graph launch, async copy or memset that is not part of a capture."""
    makers = (*LAUNCHES, Api.MEMCPY_ASYNC, Api.MEMSET, Api.MEMSET_ASYNC)
    return call.api in makers and not call.captured
