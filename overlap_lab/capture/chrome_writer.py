"""Write recorded CUDA activity as a Chrome trace in Kineto's dialect, which Perfetto shows too."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from overlap_lab.errors import CaptureError
from overlap_lab.schema import ORIGIN_KEY

__all__ = ["Activity", "Call", "Op", "Range", "Wait", "write_chrome"]


@dataclass(frozen=True, slots=True)
class Call:
    """A runtime or driver call on a host thread; times are ns since 1970."""

    name: str
    start_ns: int
    end_ns: int
    thread: int
    correlation: int
    is_driver: bool = False
    external: int = 0
    """Number of the range that the call was made in, 0 for none."""


@dataclass(frozen=True, slots=True)
class Op:
    """A kernel, copy or memset on a device."""

    category: str
    """"kernel", "gpu_memcpy" or "gpu_memset"."""
    name: str
    start_ns: int
    end_ns: int
    device: int
    stream: int
    context: int
    correlation: int
    bytes: int = -1
    """-1: not a copy or memset."""
    graph: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """What a synchronizing call waited for."""

    name: str
    start_ns: int
    end_ns: int
    context: int
    stream: int
    """-1: no single stream."""
    correlation: int
    recorded_by: int = 0
    """Of an event: the correlation id of the call that recorded it, 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Range:
    name: str
    start_ns: int
    end_ns: int
    thread: int


@dataclass(slots=True)
class Activity:
    """Everything one process recorded."""

    process: int
    calls: list[Call] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    devices: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.calls) + len(self.ops) + len(self.waits) + len(self.ranges)


_Record = Call | Op | Wait | Range
_PIECE: Final = 2000
"""Events that are made into text at once."""


def write_chrome(activity: Activity, path: Path, facts: Mapping[str, str]) -> Path:
    """Write the file, gzip, under its final name only when it is whole; `facts` say how it was made.

    Times are stored relative to `baseTimeNanoseconds`, in us with three decimals, so no ns is lost. Raises
    CaptureError where the file cannot be written.
    """
    base_ns = min((event.start_ns for event in _timed(activity)), default=0)
    header = {
        "schemaVersion": 1,
        ORIGIN_KEY: dict(facts),
        "deviceProperties": [{"id": number, "name": name} for number, name in activity.devices.items()],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
    }
    partial = path.with_name(f".{path.name}")
    try:
        with gzip.open(partial, "wt", encoding="utf-8", compresslevel=3) as file:
            file.write(json.dumps(header)[:-1] + ', "traceEvents": [')
            between = "\n"
            for piece in _pieces(_events(activity, base_ns)):
                file.write(between + ",\n".join(map(json.dumps, piece)))
                between = ",\n"
            file.write("\n]}\n")
        return partial.rename(path)
    except OSError as error:
        raise CaptureError(f"{path}: the trace could not be written: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)


def _timed(activity: Activity) -> Iterator[_Record]:
    yield from activity.calls
    yield from activity.ops
    yield from activity.waits
    yield from activity.ranges


def _pieces(events: Iterator[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    piece: list[dict[str, Any]] = []
    for event in events:
        piece.append(event)
        if len(piece) == _PIECE:
            yield piece
            piece = []
    if piece:
        yield piece


def _events(activity: Activity, base_ns: int) -> Iterator[dict[str, Any]]:
    for call in activity.calls:
        place = _Place("cuda_driver" if call.is_driver else "cuda_runtime", activity.process, call.thread)
        args: dict[str, Any] = {"correlation": call.correlation}
        if call.external:
            args["External id"] = call.external
        yield _event(place, call, base_ns, args)
    for op in activity.ops:
        args = {"device": op.device, "context": op.context, "stream": op.stream}
        args["correlation"] = op.correlation
        if op.bytes >= 0:
            args["bytes"] = op.bytes
        if op.graph:
            args["graph id"] = op.graph
        yield _event(_Place(op.category, op.device, op.stream), op, base_ns, args)
    for wait in activity.waits:
        args = {"context": wait.context, "stream": wait.stream, "correlation": wait.correlation}
        if wait.stream >= 0:
            args["wait_on_stream"] = wait.stream
        if wait.recorded_by:
            args["wait_on_cuda_event_record_corr_id"] = wait.recorded_by
        yield _event(_Place("cuda_sync", 0, wait.stream), wait, base_ns, args)
    for one in activity.ranges:
        yield _event(_Place("user_annotation", activity.process, one.thread), one, base_ns, {})


class _Place(NamedTuple):
    """Under which category, process and thread an event is written."""

    category: str
    process: int
    thread: int


def _event(place: _Place, record: _Record, base_ns: int, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": place.category,
        "name": record.name,
        "pid": place.process,
        "tid": place.thread,
        "ts": _microseconds(record.start_ns - base_ns),
        "dur": _microseconds(record.end_ns - record.start_ns),
        "args": args,
    }


def _microseconds(duration_ns: int) -> float:
    """As many decimals as a ns needs: a double holds 15 digits, which is 11 days after the first record."""
    return duration_ns / 1000
