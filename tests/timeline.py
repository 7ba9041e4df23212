"""Drawn traces: `timeline(drawing)` reads a picture that a person can count into a Trace."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    DEVICE_KINDS,
    NO_CORRELATION,
    Api,
    CopyKind,
    Kind,
    Memory,
)
from overlap_lab.trace import Source, Trace

__all__ = ["DrawingError", "timeline"]

HOST: Final = {
    "L": (Kind.API, Api.LAUNCH, "hipLaunchKernel"),
    "G": (Kind.API, Api.GRAPH_LAUNCH, "hipGraphLaunch"),
    "M": (Kind.API, Api.MEMCPY, "hipMemcpy"),
    "C": (Kind.API, Api.MEMCPY_ASYNC, "hipMemcpyAsync"),
    "Y": (Kind.API, Api.MEMSET, "hipMemset"),
    "Z": (Kind.API, Api.MEMSET_ASYNC, "hipMemsetAsync"),
    "H": (Kind.API, Api.HOST_FUNC, "hipLaunchHostFunc"),
    "S": (Kind.API, Api.DEVICE_SYNC, "hipDeviceSynchronize"),
    "T": (Kind.API, Api.STREAM_SYNC, "hipStreamSynchronize"),
    "E": (Kind.API, Api.EVENT_SYNC, "hipEventSynchronize"),
    "X": (Kind.API, Api.CONTEXT_SYNC, "hipCtxSynchronize"),
    "Q": (Kind.API, Api.QUERY, "hipStreamQuery"),
    "W": (Kind.API, Api.STREAM_WAIT_EVENT, "hipStreamWaitEvent"),
    "R": (Kind.API, Api.EVENT_RECORD, "hipEventRecord"),
    "A": (Kind.API, Api.ALLOC, "hipMalloc"),
    "F": (Kind.API, Api.FREE, "hipFree"),
    "P": (Kind.API, Api.HOST_ALLOC, "hipHostMalloc"),
    "U": (Kind.API, Api.HOST_FREE, "hipHostFree"),
    "N": (Kind.API, Api.ASYNC_ALLOC, "hipMallocAsync"),
    "D": (Kind.API, Api.STREAM_DESTROY, "hipStreamDestroy"),
    "J": (Kind.API, Api.MODULE_LOAD, "hipModuleLoad"),
    "B": (Kind.API, Api.CAPTURE_BEGIN, "hipStreamBeginCapture"),
    "V": (Kind.API, Api.CAPTURE_END, "hipStreamEndCapture"),
    "K": (Kind.API, Api.OTHER, "hipGetDevice"),
    "O": (Kind.RANGE, Api.NONE, "range"),
    "I": (Kind.CPU_OP, Api.NONE, "aten::op"),
}
DEVICE: Final = {
    "K": (Kind.KERNEL, CopyKind.UNKNOWN, "kernel"),
    "C": (Kind.MEMCPY, CopyKind.UNKNOWN, "copy"),
    "D": (Kind.MEMCPY, CopyKind.DEVICE_TO_HOST, "copy DtoH"),
    "U": (Kind.MEMCPY, CopyKind.HOST_TO_DEVICE, "copy HtoD"),
    "X": (Kind.MEMCPY, CopyKind.DEVICE_TO_DEVICE, "copy DtoD"),
    "N": (Kind.KERNEL, CopyKind.UNKNOWN, "ncclDevKernel_AllReduce"),
    "Z": (Kind.MEMSET, CopyKind.UNKNOWN, "memset"),
    "S": (Kind.SYNC, CopyKind.UNKNOWN, "Stream Synchronize"),
    "E": (Kind.SYNC, CopyKind.UNKNOWN, "Event Synchronize"),
    "A": (Kind.DEVICE_RANGE, CopyKind.UNKNOWN, "annotation"),
}
OWN_OP: Final = {
    Api.LAUNCH: Kind.KERNEL,
    Api.MEMCPY: Kind.MEMCPY,
    Api.MEMCPY_ASYNC: Kind.MEMCPY,
    Api.MEMSET: Kind.MEMSET,
    Api.MEMSET_ASYNC: Kind.MEMSET,
}
_PLACES: Final = ("part", "process", "host", "device", "stream")
_FIRST_FREE_ID: Final = 1_000


class DrawingError(ValueError):
    """The drawing says something that cannot be read as a trace."""


@dataclass(slots=True)
class _Event:
    kind: Kind
    api: Api
    name: str
    start: int
    end: int
    label: str
    place: Mapping[str, int]
    copy_kind: CopyKind = CopyKind.UNKNOWN
    correlation: int = field(default=NO_CORRELATION)
    wait_correlation: int = field(default=NO_CORRELATION)


def timeline(
    drawing: str,
    letter_ns: int = 1_000,
    *,
    memory: Mapping[int, Memory] | None = None,
    source: Source | None = None,
) -> Trace:
    """The Trace that a drawing shows: a lane a line, a letter a microsecond, a run of one letter an event.

    >>> trace = timeline('''
    ...     host   1 |LL.SSSSSSo    L launch   S device sync   o range   K kernel
    ...     stream 0 |..KKKKKKK.
    ... ''')
    >>> [(trace.name_of(i), int(trace.start_ns[i]), int(trace.end_ns[i])) for i in range(3)]
    [('hipLaunchKernel', 0, 2000), ('kernel', 2000, 9000), ('hipDeviceSynchronize', 3000, 9000)]

    Before the bar stands where the events are: `host <thread>` or `stream <number>`, with `process`, `device`
    and `part` where they are not 1, 0 and 0; on a host line `device` and `stream` say what its calls name.
    A thread or stream may have several lines, for nested or overlapping events. All bars stand in one column.
    After the letters, a space starts a comment.

    Case does not matter, so `LlL` is three launches in a row. `.` is nothing. Host letters: L launch, G graph
    launch, M copy (sync), C copy (async), Y memset, Z memset (async), H host function; S device, T stream,
    E event, X context synchronize; Q query, R event record, W stream-wait-event; A malloc, F free, P pinned
    malloc, U host free, N malloc (async), D stream destroy, J module load; B, V begin and end of a capture;
    K any other call; O range, I framework op. Device letters: K kernel, N collective, C copy of unknown kind,
    D copy to the host, U copy to the device, X copy on the device, Z memset, S sync row, E sync row of an
    event, A annotation.

    The n-th launch owns the n-th kernel, the n-th copy call the n-th copy, the n-th memset call the n-th
    memset, in order of start. Where that is not so, a digit as an event's second letter is its correlation id
    (`L1 ... K1KK`); 0 links nothing, an id may stand for many ops (a graph) or for none (a missing record).
    On a sync row the digit is the waiting call's; on `E` a second digit is the call that recorded the event.
    `memory` says which ids are copies of pageable or pinned memory.
    """
    events = list(itertools.chain.from_iterable(_lane(line) for line in _lines(drawing)))
    events.sort(key=lambda event: (event.start, -event.end))
    _link(events)
    return _trace(events, letter_ns, memory or {}, source or Source(vendor="amd"))


def _lines(drawing: str) -> list[str]:
    lines = [line for line in drawing.splitlines() if line.strip()]
    for line in lines:
        if "|" not in line:
            raise DrawingError(f"no bar between place and letters: {line.strip()!r}")
    if len({line.index("|") for line in lines}) > 1:
        raise DrawingError("the bars do not stand in one column, so nobody can count across lines")
    return lines


def _lane(line: str) -> list[_Event]:
    head, _, rest = line.partition("|")
    place = _place(head)
    letters = (rest.split() or [""])[0]
    events, at = [], 0
    while at < len(letters):
        if letters[at] == ".":
            at += 1
            continue
        match = re.compile(r"([A-Za-z])(\d*)(?:\1(?!\d))*").match(letters, at)
        if match is None:
            raise DrawingError(f"{letters[at]!r} starts no event in {line.strip()!r}")
        events.append(_event(match, place, line))
        at = match.end()
    return events


def _place(head: str) -> dict[str, int]:
    words = head.split()
    names, numbers = words[::2], words[1::2]
    if len(names) != len(numbers) or any(name not in _PLACES for name in names):
        raise DrawingError(f"{head.strip()!r} is no place; write for example `host 1` or `device 0 stream 2`")
    if "host" not in names and "stream" not in names:
        raise DrawingError(f"{head.strip()!r} names neither a host thread nor a stream")
    try:
        return {name: int(number) for name, number in zip(names, numbers, strict=True)}
    except ValueError:
        raise DrawingError(f"{head.strip()!r} has a word where a number belongs") from None


def _event(match: re.Match[str], place: Mapping[str, int], line: str) -> _Event:
    letter, label = match[1].upper(), match[2]
    start, end = match.span()
    if "host" in place:
        if letter not in HOST or len(label) > 1:
            raise DrawingError(f"{match[0]!r} is no host event in {line.strip()!r}")
        kind, api, name = HOST[letter]
        return _Event(kind, api, name, start, end, label, place)
    if letter not in DEVICE or len(label) > (2 if letter == "E" else 1):
        raise DrawingError(f"{match[0]!r} is no device event in {line.strip()!r}")
    kind, copy_kind, name = DEVICE[letter]
    return _Event(kind, Api.NONE, name, start, end, label, place, copy_kind)


def _link(events: list[_Event]) -> None:
    free = itertools.count(_FIRST_FREE_ID)
    for event in events:
        if event.label:
            event.correlation = int(event.label[0])
            event.wait_correlation = int(event.label[1:] or NO_CORRELATION)
        elif event.kind == Kind.API:
            if event.api == Api.GRAPH_LAUNCH:
                raise DrawingError("a graph launch needs a digit, its ops the same one")
            event.correlation = next(free)
        elif event.kind == Kind.SYNC:
            raise DrawingError("a sync row needs the digit of the call that waited")
    for kind in DEVICE_KINDS:
        calls = [event for event in events if not event.label and OWN_OP.get(event.api) == kind]
        ops = [event for event in events if not event.label and event.kind == kind]
        if len(calls) != len(ops):
            raise DrawingError(
                f"{len(calls)} calls without a digit and {len(ops)} {kind.name.lower()} ops without one; "
                "give digits to those that do not pair in order (0 links nothing)"
            )
        for call, op in zip(calls, ops, strict=True):
            op.correlation = call.correlation


def _trace(events: list[_Event], letter_ns: int, memory: Mapping[int, Memory], source: Source) -> Trace:
    names = tuple(dict.fromkeys(event.name for event in events))
    graphs = {event.correlation for event in events if event.api == Api.GRAPH_LAUNCH}
    on_device = [event.kind in DEVICE_KINDS for event in events]
    columns = {
        "kind": [event.kind for event in events],
        "api": [event.api for event in events],
        "name": [names.index(event.name) for event in events],
        "start_ns": [event.start * letter_ns for event in events],
        "end_ns": [event.end * letter_ns for event in events],
        "part": [event.place.get("part", 0) for event in events],
        "process": [event.place.get("process", 1) for event in events],
        "thread": [event.place.get("host", ABSENT) for event in events],
        "device": [
            event.place.get("device", ABSENT_DEVICE if "host" in event.place else 0) for event in events
        ],
        "stream": [event.place.get("stream", ABSENT) for event in events],
        "correlation": [event.correlation for event in events],
        "wait_correlation": [event.wait_correlation for event in events],
        "copy_kind": [event.copy_kind for event in events],
        "memory": [
            memory.get(event.correlation, Memory.UNKNOWN) if event.kind == Kind.MEMCPY else Memory.UNKNOWN
            for event in events
        ],
        "graph": [
            event.correlation if device and event.correlation in graphs else ABSENT
            for event, device in zip(events, on_device, strict=True)
        ],
    }
    return Trace.from_columns(columns, names=names, source=source)
