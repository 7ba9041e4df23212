"""A slow reference calculator for every tag of a report: plain loops, and sets of ticks for every union.

Written from the definitions of the measures alone; it shares no code with `overlap_lab.metrics`. It reads
traces whose times are whole microseconds, so that a union is a set of small integers and nothing rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from overlap_lab.schema import Api, Cause, Fault, Reason
from overlap_lab.trace import Trace
from tests.reference.collective_paces import PACE_TAGS, calculate_paces
from tests.reference.collectives import TAGS as COLLECTIVE_TAGS
from tests.reference.collectives import calculate_collectives
from tests.reference.machine import TICK_NS, Call, Machine, Op, Thread, devices_of, read
from tests.reference.waits import (
    LAUNCHES,
    SLACK,
    Verdicts,
    Wait,
    depth,
    judge,
    outstanding,
    quantile,
    scope_of,
    should_own,
)

__all__ = ["Key", "calculate", "key"]

Value = int | float | None
Key = tuple[str, tuple[tuple[str, int], ...]]
QUANTILES = {
    "min": Fraction(0),
    "p10": Fraction(1, 10),
    "median": Fraction(1, 2),
    "p90": Fraction(9, 10),
    "max": Fraction(1),
}
DEVICE_TAGS = (
    *("host/blocked_while_idle", "device/busy", "device/window", "device/idle", "device/gaps"),
    *(f"device/idle/{cause}" for cause in Cause),
    *("drain/count", "drain/terminal", "drain/idle"),
    *(f"drain/idle/{part}" for part in ("return", "refill", "launch")),
    *("stream/drain/count", "stream/drain/idle", "overlap/ratio", "overlap/ratio_literal"),
    *(f"{tag}/{name}" for tag in ("run_ahead", "run_ahead_from_end") for name in QUANTILES),
    *("launch/floor", "queue/depth_max", "queue/work_max"),
)
LAUNCH_FLOORS, LAUNCH_LEAST = 10, 100


def key(tag: str, **scope: int) -> Key:
    return tag, tuple(sorted(scope.items()))


def calculate(trace: Trace) -> dict[Key, Value]:
    """Every measurement of a trace by (tag, scope); times in ns."""
    machine = read(trace)
    verdicts = judge(machine)
    values: dict[Key, Value] = {}
    threads = sorted({call.thread for call in machine.calls})
    for scope, chosen in _host_scopes(threads):
        values |= {key(tag, **scope): v for tag, v in _host(machine, verdicts, chosen).items()}
    for device in machine.devices:
        found = _device(machine, verdicts, device)
        values |= {key(tag, device=device): v for tag, v in found.items()}
        if len(machine.devices) == 1:
            values |= {key(tag): v for tag, v in found.items()}
        values |= _streams(machine, verdicts, device)
    by_device = calculate_collectives(trace)
    values |= {key(tag, device=d): v for d, of_device in by_device.items() for tag, v in of_device.items()}
    paces = calculate_paces(trace) if by_device else {}
    values |= {key(tag, device=d): v for d, of_device in paces.items() for tag, v in of_device.items()}
    if not by_device:
        values |= {key(tag): None for tag in (*COLLECTIVE_TAGS, *PACE_TAGS)}
    values |= {key(f"quality/{fault}"): n for fault, n in _quality(machine, trace).items()}
    return values | _missing_side(machine, values)


def _missing_side(machine: Machine, values: dict[Key, Value]) -> dict[Key, Value]:
    """Null for what needs the records of the side that a trace does not have."""
    nulls: dict[Key, Value] = {}
    if not machine.calls:
        needs = ("host/", "overlap/", "drain/", "stream/", "device/idle/")
        nulls |= {k: None for k in values if k[0].startswith(needs)}
    if not machine.ops:
        nulls |= {key(tag): None for tag in DEVICE_TAGS}
    return nulls


def _host_scopes(threads: list[Thread]) -> Iterable[tuple[dict[str, int], list[Thread]]]:
    yield {}, threads
    for process in sorted({process for process, _ in threads}):
        yield {"process": process}, [t for t in threads if t[0] == process]
    for process, thread in threads:
        yield {"process": process, "thread": thread}, [(process, thread)]


def _ticks(start: int, end: int) -> set[int]:
    return set(range(start, end))


# Host


def _outermost(waits: list[Wait], thread: Thread) -> list[Wait]:
    mine = [w for w in waits if w.call.thread == thread]
    return [w for w in mine if not any(_encloses(o.call, w.call) for o in mine if o is not w)]


def _encloses(outer: Call, inner: Call) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _host(machine: Machine, verdicts: Verdicts, threads: list[Thread]) -> dict[str, Value]:
    waits = [w for thread in threads for w in _outermost(verdicts.waits, thread)]
    queries = [c for c in machine.calls if c.api == Api.QUERY and c.thread in threads]
    spans = [[c for c in queries if c.thread == thread] for thread in threads]

    def total(chosen: Iterable[Wait]) -> int:
        return TICK_NS * sum(w.call.duration for w in chosen)

    values: dict[str, Value] = {
        "host/blocked": total(waits),
        "host/blocked/explicit": total(w for w in waits if w.explicit),
        "host/blocked/implicit": total(w for w in waits if not w.explicit),
        "host/blocked/device_bound": TICK_NS * sum(w.bound - w.call.start for w in waits),
        "host/blocked/return_latency": TICK_NS * sum(w.call.end - w.bound for w in waits),
        "host/unknown_wait": TICK_NS * sum(c.duration for c in verdicts.unknown if c.thread in threads),
        "host/redundant_waits": sum(c.thread in threads for c in verdicts.redundant),
        "host/polling_calls": len(queries),
        "host/polling_time": TICK_NS * sum(c.duration for c in queries),
        "host/polling_span": TICK_NS
        * sum(max(c.end for c in span) - min(c.start for c in span) for span in spans if span),
    }
    for reason in Reason:
        values[f"host/blocked/{reason}"] = total(w for w in waits if w.reason == reason)
    return values


# Drains


@dataclass(slots=True)
class _Gap:
    start: int
    end: int
    returned: int
    next_op: Op

    @property
    def parts(self) -> tuple[int, int, int]:
        """The cost of the drain: return, refill, launch; they sum to the gap."""
        back = min(max(self.returned, self.start), self.end)
        if self.next_op.call is None:
            return back - self.start, self.end - back, 0
        launched = min(max(self.next_op.call.start, back), self.end)
        return back - self.start, launched - back, self.end - launched


class _NoGap(Enum):
    STILL_FED = auto()
    TERMINAL = auto()


def _drain(ops: list[Op], returned: int) -> _Gap | _NoGap:
    """The gap that a return on an empty device or stream opened, or why there is none."""
    before = [op for op in ops if op.enqueued < returned or op.end <= returned]
    later = [op for op in ops if op not in before]
    if not before or any(op.end > returned + SLACK for op in before):
        return _NoGap.STILL_FED
    if not later:
        return _NoGap.TERMINAL
    next_op = min(later, key=lambda op: op.start)
    last = max(op.end for op in before)
    return _Gap(last, next_op.start, returned, next_op) if next_op.start > last else _NoGap.STILL_FED


def _waits_for(machine: Machine, verdicts: Verdicts, device: int) -> list[Wait]:
    feeding = _feeding(machine, device)
    mine = [wait for thread in feeding for wait in _outermost(verdicts.waits, thread)]
    return [w for w in mine if any(op.device == device for op in w.ops)]


def _feeding(machine: Machine, device: int) -> set[Thread]:
    return {op.call.thread for op in machine.on(device) if op.call}


def _gaps_of(found: Iterable[_Gap | _NoGap]) -> list[_Gap]:
    gaps: dict[tuple[int, int], _Gap] = {}
    for gap in found:
        if isinstance(gap, _Gap):
            known = gaps.setdefault((gap.start, gap.end), gap)
            known.returned = max(known.returned, gap.returned)
    return list(gaps.values())


def _stream_drains(machine: Machine, verdicts: Verdicts, device: int, stream: int | None) -> list[_Gap]:
    ops = [op for op in machine.on(device) if op.stream == stream]
    found = []
    for wait in _waits_for(machine, verdicts, device):
        scope = scope_of(machine, wait.call)
        mine = outstanding([op for op in ops if scope(op)], wait.call.start)
        if mine or any(op in ops for op in wait.call.ops):
            found.append(_drain(ops, wait.call.end))
    return _gaps_of(found)


def _streams(machine: Machine, verdicts: Verdicts, device: int) -> dict[Key, Value]:
    values: dict[Key, Value] = {}
    for stream in {op.stream for op in machine.on(device) if op.stream is not None}:
        gaps = _stream_drains(machine, verdicts, device, stream)
        scope = {"device": device, "stream": stream}
        values[key("stream/drain/count", **scope)] = len(gaps)
        values[key("stream/drain/idle", **scope)] = TICK_NS * sum(gap.end - gap.start for gap in gaps)
    return values


# Device


def _device(machine: Machine, verdicts: Verdicts, device: int) -> dict[str, Value]:
    ops = machine.on(device)
    busy = set().union(*(_ticks(op.start, op.end) for op in ops))
    window = (min(op.start for op in ops), max(op.end for op in ops))
    floor = _launch_floor(ops)
    drains = [(w, _drain(ops, w.call.end)) for w in _waits_for(machine, verdicts, device)]
    gaps = _gaps_of(gap for _, gap in drains)
    terminal = {w for w, gap in drains if gap is _NoGap.TERMINAL}
    holes = _holes(_ticks(*window) - busy)
    causes = _idle(machine, ops, holes, {(g.start, g.end) for g in gaps}, floor)
    values: dict[str, Value] = {
        "device/busy": TICK_NS * len(busy),
        "device/window": TICK_NS * (window[1] - window[0]),
        "device/idle": TICK_NS * (window[1] - window[0] - len(busy)),
        "device/gaps": len(holes),
        "drain/count": len(gaps),
        "drain/terminal": int(bool(terminal)),
        "drain/idle": TICK_NS * sum(gap.end - gap.start for gap in gaps),
        "launch/floor": None if floor is None else round(TICK_NS * floor),
        "queue/depth_max": max(depth(machine, device, at) for at in _instants(ops)),
        "queue/work_max": TICK_NS * _work_max(ops),
    }
    values |= {f"device/idle/{cause}": int(TICK_NS * causes[cause]) for cause in Cause}
    for i, part in enumerate(("return", "refill", "launch")):
        values[f"drain/idle/{part}"] = TICK_NS * sum(gap.parts[i] for gap in gaps)
    return values | _overlap(machine, verdicts, device, busy, terminal) | _run_ahead(ops)


def _holes(idle: set[int]) -> list[tuple[int, int]]:
    """The runs of idle ticks; a window may end in one, where its last op has no length."""
    starts = sorted(t for t in idle if t - 1 not in idle)
    ends = sorted(t + 1 for t in idle if t + 1 not in idle)
    return list(zip(starts, ends, strict=True))


def _overlap(
    machine: Machine, verdicts: Verdicts, device: int, busy: set[int], terminal: set[Wait]
) -> dict[str, Value]:
    feeding = _feeding(machine, device)
    waits = [wait for thread in feeding for wait in _outermost(verdicts.waits, thread)]
    literal = set().union(*(_ticks(w.call.start, w.call.end) for w in waits))
    fair = set().union(*(_ticks(w.call.start, w.call.end) for w in waits if w not in terminal))
    return {
        "overlap/ratio": len(busy - fair) / len(busy) if busy else None,
        "overlap/ratio_literal": len(busy - literal) / len(busy) if busy else None,
        "host/blocked_while_idle": TICK_NS * len(literal - busy),
    }


def _run_ahead(ops: list[Op]) -> dict[str, Value]:
    linked = [(op, op.call) for op in ops if op.call and op.start >= op.call.start]
    values: dict[str, Value] = {}
    for name, share in QUANTILES.items():
        for tag, leads in (
            ("run_ahead", [op.start - call.start for op, call in linked]),
            ("run_ahead_from_end", [op.start - call.end for op, call in linked]),
        ):
            values[f"{tag}/{name}"] = round(TICK_NS * quantile(leads, share)) if leads else None
    return values


def _launch_floor(ops: list[Op]) -> Fraction | None:
    leads = []
    for op in ops:
        call = op.call
        if call is None or op.start < call.start:
            continue
        if call.api == Api.GRAPH_LAUNCH and op is not min(call.ops, key=lambda o: o.start):
            continue
        same = [o for o in ops if o.stream == op.stream and o.process == op.process]
        if not outstanding(same, call.start):
            leads.append(op.start - call.start)
    return quantile(leads, Fraction(1, 10)) if leads else None


def _instants(ops: list[Op]) -> set[int]:
    """Where a queue can grow: an op starts, or the call that made it returns."""
    return {op.start for op in ops} | {op.call.end for op in ops if op.call}


def _work_max(ops: list[Op]) -> int:
    queued = {op: min(op.start, op.call.end) if op.call else op.start for op in ops}
    return max(
        sum(op.end - max(op.start, at) for op in ops if queued[op] <= at < op.end) for at in queued.values()
    )


def _idle(
    machine: Machine,
    ops: list[Op],
    holes: list[tuple[int, int]],
    drained: set[tuple[int, int]],
    floor: Fraction | None,
) -> dict[Cause, Fraction]:
    causes = dict.fromkeys(Cause, Fraction(0))
    cap = max(LAUNCH_FLOORS * (floor or Fraction(0)), Fraction(LAUNCH_LEAST))
    for start, end in holes:
        before = max((op for op in ops if op.end <= start), key=lambda op: (op.end, op.start))
        after = min((op for op in ops if op.start >= end), key=lambda op: op.start)
        if _is_record_missing(machine, before, after):
            causes[Cause.UNKNOWN] += end - start
        elif (start, end) in drained:
            causes[Cause.DRAIN] += end - start
        elif after.enqueued >= start:
            for cause, share in _late(start, end, after, cap).items():
                causes[cause] += share
        elif _is_behind_host_function(machine, before, after):
            causes[Cause.HOST_FUNCTION] += end - start
        else:
            causes[Cause.DEPENDENCY] += end - start
    return causes


def _late(start: int, end: int, after: Op, cap: Fraction) -> dict[Cause, Fraction]:
    """A gap whose next op was not yet being enqueued when it opened."""
    begun = Fraction(min(after.enqueued, end))
    launched = min(Fraction(end), begun + cap)
    returned = min(Fraction(end), max(launched, Fraction(after.call.end if after.call else end)))
    return {
        Cause.HOST_LATE: begun - start,
        Cause.LAUNCH: launched - begun,
        Cause.IN_CALL: returned - launched,
        Cause.DEPENDENCY: end - returned,
    }


def _is_record_missing(machine: Machine, before: Op, after: Op) -> bool:
    return any(
        call.api in LAUNCHES
        and should_own(call)
        and not call.ops
        and before.enqueued < call.start < after.enqueued
        and after.device in devices_of(machine, call)
        for call in machine.calls
    )


def _is_behind_host_function(machine: Machine, before: Op, after: Op) -> bool:
    """Whether a host function lies between the two ops of a gap, on the stream or thread of the second."""
    for call in machine.calls:
        if call.api != Api.HOST_FUNC or not before.enqueued < call.start < after.enqueued:
            continue
        if call.stream is not None:
            if (call.process, call.stream) == (after.process, after.stream):
                return True
        elif after.call and call.thread == after.call.thread:
            return True
    return False


# Quality


def _quality(machine: Machine, trace: Trace) -> dict[Fault, int]:
    faults = trace.source.faults
    return {
        Fault.UNLINKED_OPS: sum(op.call is None for op in machine.ops),
        Fault.LAUNCHES_WITHOUT_OP: sum(should_own(c) and not c.ops for c in machine.calls),
        Fault.ID_REUSED: machine.id_reused,
        Fault.INVERTED: sum(op.start < op.enqueued for op in machine.ops),
        Fault.NEGATIVE_DURATION: machine.negative_duration,
        Fault.ZERO_DURATION: machine.zero_duration,
        Fault.CLIPPED: machine.clipped,
        Fault.STREAM_OVERLAP: machine.stream_overlap,
        Fault.ROWS_REPAIRED: faults.get(Fault.ROWS_REPAIRED, 0),
        Fault.ROWS_SKIPPED: faults.get(Fault.ROWS_SKIPPED, 0),
        Fault.TRUNCATED: faults.get(Fault.TRUNCATED, 0),
        Fault.NO_STREAM: sum(op.stream is None for op in machine.ops),
        Fault.GRAPH_OPS: sum(
            op.graph is not None or (op.call is not None and op.call.api == Api.GRAPH_LAUNCH)
            for op in machine.ops
        ),
        Fault.COPIES_WITHOUT_RECORD: sum(c.api == Api.MEMCPY and not c.ops for c in machine.calls),
        Fault.NO_HOST_RECORDS: int(not machine.calls),
        Fault.NO_DEVICE_RECORDS: int(not machine.ops),
    }
