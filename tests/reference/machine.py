"""The input of the reference calculator: calls and ops as plain objects, in ticks of one microsecond."""

from __future__ import annotations

from dataclasses import dataclass, field

from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    DEVICE_KINDS,
    ENQUEUE,
    Api,
    Kind,
)
from overlap_lab.trace import Source, Trace

__all__ = ["TICK_NS", "Call", "Machine", "Op", "SyncRow", "Thread", "devices_of", "read"]

TICK_NS = 1_000
JITTER = 1
CORRUPT = 50
Thread = tuple[int, int]


@dataclass(eq=False, slots=True)
class Op:
    kind: int
    start: int
    end: int
    part: int
    process: int
    device: int
    stream: int | None
    correlation: int
    copy_kind: int
    memory: int
    graph: int | None
    call: Call | None = None

    @property
    def enqueued(self) -> int:
        """When its enqueue call started; an op without a call counts as enqueued at its own start."""
        return self.call.start if self.call else self.start


@dataclass(eq=False, slots=True)
class Call:
    api: int
    name: str
    start: int
    end: int
    part: int
    process: int
    thread: Thread
    device: int | None
    stream: int | None
    correlation: int
    captured: bool = False
    ops: list[Op] = field(default_factory=list)

    @property
    def duration(self) -> int:
        return self.end - self.start


@dataclass(eq=False, slots=True)
class SyncRow:
    part: int
    process: int
    stream: int | None
    correlation: int
    wait_correlation: int


@dataclass(eq=False, slots=True)
class Machine:
    calls: list[Call]
    ops: list[Op]
    sync_rows: list[SyncRow]
    source: Source
    clipped: int = 0
    stream_overlap: int = 0
    id_reused: int = 0
    zero_duration: int = 0
    negative_duration: int = 0

    @property
    def devices(self) -> list[int]:
        return sorted({op.device for op in self.ops})

    def on(self, device: int) -> list[Op]:
        return [op for op in self.ops if op.device == device]

    def feeds(self, thread: Thread) -> set[int]:
        """The devices that a thread feeds."""
        return {op.device for op in self.ops if op.call and op.call.thread == thread}


def read(trace: Trace) -> Machine:
    """Calls and ops of a trace, linked, corrupt ends clipped (measures 1 and 4)."""
    machine = Machine([], [], [], trace.source)
    rows = {
        name: getattr(trace, name).tolist() for name in Trace.__slots__ if name not in ("names", "source")
    }
    for i in range(len(trace)):
        _add_row(machine, {name: column[i] for name, column in rows.items()}, trace.name_of(i))
    _mark_captured(machine)
    _link(machine)
    _clip(machine)
    return machine


def _ticks(time_ns: int) -> int:
    assert time_ns % TICK_NS == 0, "the reference calculator reads traces in whole microseconds"
    return time_ns // TICK_NS


def _add_row(machine: Machine, row: dict[str, int], name: str) -> None:
    if row["kind"] not in (Kind.API, Kind.SYNC, *DEVICE_KINDS):
        return
    start = _ticks(row["start_ns"])
    end = max(start, _ticks(row["end_ns"]))
    machine.negative_duration += row["end_ns"] < row["start_ns"]
    stream = None if row["stream"] == ABSENT else row["stream"]
    ids = (row["part"], row["process"])
    if row["kind"] == Kind.API:
        device = None if row["device"] == ABSENT_DEVICE else row["device"]
        thread = (row["process"], row["thread"])
        call = Call(row["api"], name, start, end, *ids, thread, device, stream, row["correlation"])
        machine.calls.append(call)
    elif row["kind"] in DEVICE_KINDS:
        graph = None if row["graph"] == ABSENT else row["graph"]
        copy = (row["copy_kind"], row["memory"])
        op = Op(row["kind"], start, end, *ids, row["device"], stream, row["correlation"], *copy, graph)
        machine.ops.append(op)
        machine.zero_duration += row["end_ns"] == row["start_ns"]
    elif row["kind"] == Kind.SYNC:
        machine.sync_rows.append(SyncRow(*ids, stream, row["correlation"], row["wait_correlation"]))


def _mark_captured(machine: Machine) -> None:
    for thread in {call.thread for call in machine.calls}:
        capturing = False
        for call in [call for call in machine.calls if call.thread == thread]:
            if call.api in (Api.CAPTURE_BEGIN, Api.CAPTURE_END):
                capturing = call.api == Api.CAPTURE_BEGIN
            call.captured = capturing


def _link(machine: Machine) -> None:
    makers: dict[tuple[int, int, int], list[Call]] = {}
    for call in machine.calls:
        if call.api in ENQUEUE and call.api != Api.HOST_FUNC and call.correlation and not call.captured:
            makers.setdefault((call.part, call.process, call.correlation), []).append(call)
    machine.id_reused = sum(len(calls) > 1 for calls in makers.values())
    for op in machine.ops:
        calls = makers.get((op.part, op.process, op.correlation), [])
        if calls:
            before = [call for call in calls if call.start < op.start]
            op.call = max(before, key=lambda call: call.start) if before else calls[0]
            op.call.ops.append(op)


def _clip(machine: Machine) -> None:
    """Cut corrupt ends: those that pass the next op of the stream, or a wait that proves completion."""
    ends: dict[Op, int] = {}
    for op in machine.ops:
        mine = [
            o for o in machine.ops if (o.process, o.device, o.stream) == (op.process, op.device, op.stream)
        ]
        later = mine[mine.index(op) + 1 :] if op.stream is not None else []
        proofs = [at for at in _proofs(machine, op, certain=not later) if op.start < at < op.end]
        if later:
            over = op.end - later[0].start
            if over > CORRUPT:
                ends[op] = min([later[0].start, *proofs])
            elif over > JITTER:
                machine.stream_overlap += 1
        elif proofs and op.end - min(proofs) > CORRUPT:
            ends[op] = min(proofs)
    machine.clipped = len(ends)
    for op, end in ends.items():
        op.end = end


def devices_of(machine: Machine, call: Call) -> set[int]:
    """The devices that the return of a call can depend on: named, or fed by its thread, or by its process."""
    if call.device is not None:
        return {call.device}
    mine = {op.device for op in machine.ops if op.process == call.process}
    return {op.device for op in call.ops} or machine.feeds(call.thread) or mine


def _proofs(machine: Machine, op: Op, *, certain: bool) -> list[int]:
    """Returns of the device and context synchronizes that cannot return before the op has ended.

    One that names no device may be for another of those that its thread feeds, so it is not certain.
    """
    found = []
    for call in machine.calls:
        is_wide = call.api in (Api.DEVICE_SYNC, Api.CONTEXT_SYNC) and call.process == op.process
        devices = devices_of(machine, call)
        proves = len(devices) == 1 or not certain
        if is_wide and proves and op.enqueued < call.start and op.device in devices:
            found.append(call.end)
    return found
