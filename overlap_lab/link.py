"""Which enqueue call made which device op, worked out once for a whole trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Numbers,
    Rows,
    code_bits,
    count_before,
    count_until,
    dense_codes,
    distinct,
    gather,
    order,
)
from overlap_lab.intervals import spread
from overlap_lab.pairing import OWNERS, Columns, linked_plainly
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    DEVICE_KINDS,
    Api,
    Kind,
)
from overlap_lab.trace import Trace

__all__ = ["OWNERS", "Link", "Places", "link", "owned_ops"]


_MARKS = (Api.CAPTURE_BEGIN, Api.CAPTURE_END)
_RULES: Final[dict[str, int]] = {
    "host": code_bits((Kind.API,)),
    "ops": code_bits(DEVICE_KINDS),
    "owners": code_bits(OWNERS),
    "absent_process": ABSENT_PROCESS,
    "absent_device": ABSENT_DEVICE,
    "absent_stream": ABSENT,
}


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where ops run and for whom: entry i of every array is place i; places are in order, all distinct."""

    part: Ints
    process: Ints
    """Process of the op: its own, else its call's, else the only one of its part, else ABSENT_PROCESS."""
    device: Ints
    """Device of the op: its own, else its call's, else the only one of the trace, else ABSENT_DEVICE."""
    stream: Ints
    """Stream of the op: its own, else its call's, else ABSENT."""

    @property
    def columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.part, self.process, self.device, self.stream


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """Host calls and device ops, each in row order, with the enqueue call of every op."""

    trace: Trace
    """The trace that was linked; its repaired copies have the same rows."""
    host: Rows
    """Row of each host call."""
    host_thread: Rows
    """Per host call: dense number of (part, process, thread)."""
    thread_rows: Ints
    """The first row of each thread that makes host calls."""
    apis: int
    """Which calls there are, as bits."""
    outer: Rows
    """Per host call: the outermost enqueue call around it (maybe itself), where it is one; else itself."""
    captured: Mask | None
    """Per host call whether its thread was capturing a stream, so that it owns nothing; None: none was."""
    last_op: Rows
    """Per outermost host call the last op that it, or a call in it, made; -1 for none and for others."""
    several: bool
    """Whether any call made more than one op."""
    ids_repeat: bool
    """Whether two enqueue calls may carry the same id."""
    op: Rows
    """Row of each op."""
    caller: Rows
    """The host call that made it; -1 for none."""
    enqueue: Ints
    """Start of that call, else of the op."""
    start: Ints
    end: Ints
    place: Rows
    """Number of its place."""
    places: Places
    feeds: tuple[Ints, Ints]
    """Distinct pairs (thread, place of an op that a call of the thread made)."""
    threads: list[Rows] = field(default_factory=list)
    """Thread of every row of the trace, once it was asked for."""
    faults: list[tuple[int, int, int, Rows]] = field(default_factory=list)
    """What `native.call_faults` found, once it was asked for."""

    @property
    def linked(self) -> Mask:
        """Per op whether a call made it."""
        return self.caller >= 0

    @property
    def process(self) -> Ints:
        """Per op, as for its place."""
        return gather(self.places.process, self.place)

    @property
    def device(self) -> Ints:
        """Per op, as for its place."""
        return gather(self.places.device, self.place)

    @property
    def stream(self) -> Ints:
        """Per op, as for its place."""
        return gather(self.places.stream, self.place)

    def call_rows(self, ops: Numbers) -> Numbers:
        """Row of the call of each op asked for; the op's own where it has none."""
        caller = gather(self.caller, ops)
        if self.host.size == 0:
            return gather(self.op, ops)
        return np.where(caller >= 0, gather(self.host, np.maximum(caller, 0)), gather(self.op, ops))

    def returns(self, ops: Numbers) -> Ints:
        """When the call of each op asked for returned; the op's own start where it has none."""
        caller = gather(self.caller, ops)
        if self.host.size == 0:
            return gather(self.start, ops)
        ends = gather(self.trace.end_ns, gather(self.host, np.maximum(caller, 0)))
        return np.where(caller >= 0, ends, gather(self.start, ops))

    def calls_of(self, trace: Trace, apis: Iterable[int], *, captured: bool = False) -> Rows:
        """Host calls of some kinds; without `captured` not those made while a stream was captured."""
        wanted = code_bits(apis)
        if not wanted & self.apis:
            return np.zeros(0, np.int32)
        left_out = None if self.captured is None or captured else self.captured.view(np.uint8)
        return native.calls_among(trace, self.host, wanted, left_out)

    def row_threads(self) -> Rows:
        """The thread number of every row of the trace; -1 for threads without host calls."""
        if not self.threads:
            trace = self.trace
            code = dense_codes(trace.part, trace.process, trace.thread)
            number = np.full(int(code.max(initial=-1)) + 1, -1, np.int32)
            number[code[self.thread_rows]] = np.arange(self.thread_rows.size, dtype=np.int32)
            self.threads.append(number[code])
        return self.threads[0]


def link(trace: Trace) -> Link:
    """Pair every device op with the enqueue call that made it."""
    host, op, thread, thread_rows, apis = native.calls_and_ops(trace, _RULES)
    captured = _captured(trace, host, thread) if apis & code_bits(_MARKS) else None
    outer = native.outer_calls(trace, _RULES, host, thread)
    flags = None if captured is None else captured.view(np.uint8)
    found = native.linked_ops(trace, _RULES, host, thread, flags, op)
    if found is None:
        found = linked_plainly(trace, host, thread, captured, op)
    caller, enqueue, start, end, place, columns, feeds, ids_repeat = found
    place, places, feeds = _settled(trace, thread_rows, place, columns, feeds)
    last_op, several = native.owned_ops(caller, outer)
    return Link(
        trace=trace,
        host=host,
        host_thread=thread,
        thread_rows=thread_rows,
        apis=apis,
        outer=outer,
        captured=captured,
        last_op=last_op,
        several=several,
        ids_repeat=ids_repeat,
        op=op,
        caller=caller,
        enqueue=enqueue,
        start=start,
        end=end,
        place=place,
        places=places,
        feeds=feeds,
    )


def _captured(trace: Trace, host: Rows, thread: Rows) -> Mask:
    """Host calls between a capture's begin and end on one thread; an open end reaches the file's edge."""
    api = gather(trace.api, host)
    is_begin, is_end = api == Api.CAPTURE_BEGIN, api == Api.CAPTURE_END
    by_thread = order(thread)
    ordered = thread[by_thread].astype(np.int64)
    step = is_begin[by_thread].astype(np.int64) - is_end[by_thread]
    total = np.cumsum(step)
    first = count_before(ordered, ordered)
    base = np.where(first > 0, total[first - 1], 0)
    depth = total - base
    lowest = np.minimum.reduceat(depth, np.unique(first))
    opened_before = np.maximum(-lowest, 0)[np.unique(first, return_inverse=True)[1]]
    inside = np.zeros(host.size, np.bool_)
    inside[by_thread] = depth + opened_before > 0
    return np.asarray(inside & ~is_begin & ~is_end)


def _settled(
    trace: Trace, thread_rows: Ints, place: Rows, columns: Columns, feeds: tuple[Ints, Ints]
) -> tuple[Rows, Places, tuple[Ints, Ints]]:
    """Places with the process or device that only one host process or device of the trace leaves to them."""
    part, process, device, stream = columns
    process = _process(trace, thread_rows, part, process)
    known = np.unique(device[device != ABSENT_DEVICE])
    if known.size == 1:
        device = np.full(device.size, known[0])
    settled = (part, process, device, stream)
    code, first = dense_codes(*settled), distinct(*settled)
    if not np.array_equal(code, np.arange(code.size)):
        place = gather(code.astype(np.int32), place)
        feeds = (feeds[0], code[feeds[1]])
    return place, Places(*(column[first] for column in settled)), feeds


def _process(trace: Trace, thread_rows: Ints, part: Ints, process: Ints) -> Ints:
    """The places' processes; the unknown ones of a part are its only host process."""
    process = process.copy()
    unknown = process == ABSENT_PROCESS
    for one in np.unique(part[unknown]).tolist():
        present = np.unique(trace.process[thread_rows[trace.part[thread_rows] == one]])
        present = present[present != ABSENT_PROCESS]
        if present.size == 1:
            process[unknown & (part == one)] = present[0]
    return process


def owned_ops(links: Link, calls: Numbers, among: Ints | None = None) -> tuple[Ints, Ints]:
    """Pairs (index into `calls`, index of op): ops of each host call and of the enqueue calls nested in it.

    `among` are the linked ops to choose from, in the order in which a call's ops are to come; None is all,
    and then a call that encloses n others gives n times its ops.
    """
    chosen = np.flatnonzero(links.linked) if among is None else among
    owner = gather(links.outer, gather(links.caller, chosen)).astype(np.int64)
    by_owner = order(owner)
    owner, wanted = gather(owner, by_owner), gather(links.outer, calls).astype(np.int64)
    which, at = spread(count_before(owner, wanted), count_until(owner, wanted))
    return which, gather(chosen, gather(by_owner, at))
