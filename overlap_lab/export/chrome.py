"""Chrome JSON in Kineto's dialect: what viewers show, and what our own reader reads with the same numbers.

What Kineto's dialect has no word for (the stream that a host call names, where the trace came from) is under
names of our own: `call_stream`, `call_device`, and `overlap_lab_trace` beside the events. What was
measured has the category `overlap_lab`, which readers of recorded events pass over.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.export.found import Counter, Found, Spans, found_in
from overlap_lab.export.ids import Ids, ids_of
from overlap_lab.export.places import ON_DEVICE, Places, places_of
from overlap_lab.loaders.kineto_values import copy_direction, memory_of
from overlap_lab.schema import (
    ABSENT,
    ABSENT_DEVICE,
    ABSENT_PROCESS,
    DEVICE_KINDS,
    EXPORTED_KEY,
    NO_CORRELATION,
    THREADS_KEY,
    Api,
    CopyKind,
    Kind,
    Memory,
)
from overlap_lab.source_json import source_to_json
from overlap_lab.trace import Trace
from overlap_lab.whole_file import whole_file

__all__ = ["write_chrome"]

_CATEGORY: Final = {
    Kind.API: "cuda_runtime",
    Kind.KERNEL: "kernel",
    Kind.MEMCPY: "gpu_memcpy",
    Kind.MEMSET: "gpu_memset",
    Kind.SYNC: "cuda_sync",
    Kind.RANGE: "user_annotation",
    Kind.CPU_OP: "cpu_op",
    Kind.PYTHON: "python_function",
    Kind.DEVICE_RANGE: "gpu_user_annotation",
    Kind.OVERHEAD: "overhead",
}
_CALL_KINDS: Final = {
    CopyKind.HOST_TO_HOST: "0",
    CopyKind.HOST_TO_DEVICE: "1",
    CopyKind.DEVICE_TO_HOST: "2",
    CopyKind.DEVICE_TO_DEVICE: "3",
}
_DIRECTIONS: Final = {
    CopyKind.HOST_TO_DEVICE: "HtoD",
    CopyKind.DEVICE_TO_HOST: "DtoH",
    CopyKind.DEVICE_TO_DEVICE: "DtoD",
    CopyKind.HOST_TO_HOST: "HtoH",
    CopyKind.PEER_TO_PEER: "PtoP",
}
_MEASURED: Final = -1
"""The process of what was measured: no real one is negative."""
_FRESH: Final = 1 << 30
"""Thread numbers of further lanes: viewers keep 32 bits, and take 0 for a process' first thread. The stream's
own number is in the arguments."""
_PIECE: Final = 4096


def write_chrome(trace: Trace, path: Path) -> None:
    """Write the file, packed where its name ends in .gz. See `export_trace`."""
    with whole_file(path) as stream:
        if path.suffix.lower() != ".gz":
            _write(trace, stream.write)
            return
        with gzip.GzipFile("", "wb", compresslevel=3, fileobj=stream, mtime=0) as packed:
            _write(trace, packed.write)


def _write(trace: Trace, write: Callable[[bytes], Any]) -> None:
    base_ns = int(trace.start_ns[0]) if len(trace) else 0
    found, ids = found_in(trace), ids_of(trace)
    events = _Events(trace, ids, found, base_ns)
    header = _header(trace, base_ns, ids, found) | {THREADS_KEY: events.threads}
    write(json.dumps(header)[:-1].encode() + b', "traceEvents": [\n')
    each, before = events.all(), ""
    while piece := list(islice(each, _PIECE)):
        write((before + ",\n".join(piece)).encode())
        before = ",\n"
    write(b"\n]}\n")


def _header(trace: Trace, base_ns: int, ids: Ids, found: Found) -> dict[str, Any]:
    source = replace(trace.source, notes=(*trace.source.notes, *ids.notes))
    return {
        "schemaVersion": 1,
        EXPORTED_KEY: source_to_json(source),
        "overlap_lab_found": found.facts,
        "deviceProperties": [{"id": number, "name": name} for number, name in source.devices.items()],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
    }


def _us(duration_ns: int) -> str:
    """Microseconds with as many decimals as a ns needs, exact at any length."""
    sign, size = ("-", -duration_ns) if duration_ns < 0 else ("", duration_ns)
    return f"{sign}{size // 1000}.{size % 1000:03d}"


class _Events:
    """The text of every event, in the order of the trace's rows, then what was measured."""

    def __init__(self, trace: Trace, ids: Ids, found: Found, base_ns: int) -> None:
        self._trace = trace
        self._ids = ids
        self._found = found
        self._base_ns = base_ns
        self._names = [json.dumps(name) for name in trace.names]
        self._track_names: list[tuple[int, int, str]] = []
        self.threads: dict[str, int] = {}
        """The number of a further lane of a thread -> that thread."""
        places = places_of(trace, ids)
        self._place = places.owner, self._threads(places)

    def _threads(self, places: Places) -> Ints:
        """The thread under which viewers show each row: one for each lane of a thread or a device's line."""
        thread = places.number.copy()
        taken = set(np.unique(thread).tolist())
        fresh = (number for number in count(_FRESH) if number not in taken)
        for line in places.lines(hosts=False):
            for lane, rows in enumerate(line.lanes):
                if line.is_ops and lane == 0 and 0 < line.number < _FRESH:
                    continue  # the stream's own number
                number = next(fresh)
                thread[rows] = number
                self._track_names.append((line.owner, number, line.lane_name(lane)))
        for rows, lane in places.crossing():
            of, number = int(places.number[rows[0]]), next(fresh)
            thread[rows] = number
            self.threads[str(number)] = of
            self._track_names.append((int(places.owner[rows[0]]), number, f"thread {of}, lane {lane + 1}"))
        return thread

    def all(self) -> Iterator[str]:
        yield from self._named_tracks()
        yield from self._recorded()
        for track, spans in enumerate(self._found.spans, start=1):
            yield from self._spans(track, spans)
        for counter in self._found.counters:
            yield from self._counter(counter)
        yield from self._arrows()

    def _named_tracks(self) -> Iterator[str]:
        yield _meta("process_name", _MEASURED, None, "overlap_lab: what was measured")
        for number, name in self._trace.source.processes.items():
            yield _meta("process_name", number, None, name)
        for track, spans in enumerate(self._found.spans, start=1):
            yield _meta("thread_name", _MEASURED, track, spans.track)
        for process, thread, name in self._track_names:
            yield _meta("thread_name", process, thread, name)

    def _recorded(self) -> Iterator[str]:
        trace = self._trace
        columns = (
            trace.kind,
            trace.name,
            trace.start_ns - self._base_ns,
            trace.end_ns - trace.start_ns,
            *self._place,
        )
        for first in range(0, len(trace), _PIECE):
            here = slice(first, first + _PIECE)
            some = zip(*(column[here].tolist() for column in columns), strict=True)
            for row, (kind, name, start, length, of_process, of_thread) in enumerate(some, start=first):
                args, said = self._arguments(row, kind)
                text = self._names[name] if name >= 0 else '""'
                if said:
                    text = json.dumps(trace.name_of(row) + said)
                where = _where(of_process, of_thread, _absent_label(kind))
                yield (
                    f'{{"ph":"X","cat":"{_CATEGORY[kind]}","name":{text}{where},'
                    f'"ts":{_us(start)},"dur":{_us(length)},"args":{{{args}}}}}'
                )

    def _arguments(self, row: int, kind: int) -> tuple[str, str]:
        """The arguments of a row, and what is added to its name."""
        trace, ids = self._trace, self._ids
        args: list[str] = []
        said = ""
        if ids.correlation[row] != NO_CORRELATION:
            args.append(f'"correlation":{ids.correlation[row]}')
        if kind in ON_DEVICE:
            args.append(f'"device":{_or_null(int(trace.device[row]), ABSENT_DEVICE)}')
            args.append(f'"stream":{_or_minus_one(int(trace.stream[row]))}')
        if kind in DEVICE_KINDS:
            args += _numbers(("graph id", trace.graph[row]), ("queue", trace.queue[row]))
        if kind == Kind.SYNC and ids.wait_correlation[row] != NO_CORRELATION:
            args.append(f'"wait_on_cuda_event_record_corr_id":{ids.wait_correlation[row]}')
        if kind == Kind.API:
            args += _numbers(("call_stream", trace.stream[row]))
            if trace.device[row] != ABSENT_DEVICE:
                args.append(f'"call_device":{trace.device[row]}')
            if trace.copy_kind[row] in _CALL_KINDS and trace.api[row] in (Api.MEMCPY, Api.MEMCPY_ASYNC):
                args.append(f'"kind":"{_CALL_KINDS[CopyKind(trace.copy_kind[row])]}"')
        if kind in (Kind.API, Kind.MEMCPY, Kind.MEMSET):
            args += _numbers(("bytes", trace.bytes[row]))
        if kind == Kind.MEMCPY:
            said = self._copy(row, args)
        return ",".join(args), said

    def _copy(self, row: int, args: list[str]) -> str:
        """What a copy's name must say so that readers know its sides; the name itself where it does."""
        name, copy_kind = self._trace.name_of(row), int(self._trace.copy_kind[row])
        said = ""
        if copy_direction(name) != copy_kind and copy_kind in _DIRECTIONS:
            args.append(f'"kind":"{_DIRECTIONS[CopyKind(copy_kind)]}"')
        memory = Memory(int(self._trace.memory[row]))
        if memory != Memory.UNKNOWN and memory_of(name) != memory:
            said = f" ({memory.name.capitalize()})"
        return said

    def _spans(self, track: int, spans: Spans) -> Iterator[str]:
        labels = [json.dumps(label) for label in spans.labels]
        columns = (spans.start_ns - self._base_ns, spans.end_ns - spans.start_ns, spans.label)
        for start, length, label in zip(*(column.tolist() for column in columns), strict=True):
            yield (
                f'{{"ph":"X","cat":"overlap_lab","name":{labels[label]},"pid":{_MEASURED},"tid":{track},'
                f'"ts":{_us(start)},"dur":{_us(length)}}}'
            )

    def _counter(self, counter: Counter) -> Iterator[str]:
        name = json.dumps(counter.track)
        times = (counter.time_ns - self._base_ns).tolist()
        for time, value in zip(times, counter.value.tolist(), strict=True):
            yield (
                f'{{"ph":"C","cat":"overlap_lab","name":{name},"pid":{_MEASURED},"ts":{_us(time)},'
                f'"args":{{"{counter.unit}":{value}}}}}'
            )

    def _arrows(self) -> Iterator[str]:
        trace, (processes, threads) = self._trace, self._place
        lands = self._landings()
        for number, op in enumerate(self._found.arrows.op.tolist(), start=1):
            # inside the spans, or viewers do not find them
            leaves_ns = max(int(trace.end_ns[op]) - 1, int(trace.start_ns[op])) - self._base_ns
            where = _where(int(processes[op]), int(threads[op]), ABSENT_DEVICE)
            track, lands_ns = lands[number]
            yield _flow("s", number, where, leaves_ns)
            yield _flow("f", number, f',"pid":{_MEASURED},"tid":{track}', lands_ns, ',"bp":"e"')

    def _landings(self) -> dict[int, tuple[int, int]]:
        """Arrow -> the measured track and the time that it leads to."""
        lands = {}
        for track, spans in enumerate(self._found.spans, start=1):
            if spans.arrow is None or spans.lands_at_end is None:
                continue
            at = np.where(spans.lands_at_end, spans.end_ns - 1, spans.start_ns) - self._base_ns
            for number, time in zip(spans.arrow.tolist(), at.tolist(), strict=True):
                if number:
                    lands[number] = track, time
        return lands


def _flow(phase: str, number: int, where: str, time_ns: int, binding: str = "") -> str:
    return (
        f'{{"ph":"{phase}","cat":"overlap_lab","name":"waited for","id":{number}{where},'
        f'"ts":{_us(time_ns)}{binding}}}'
    )


def _absent_label(kind: int) -> int:
    return ABSENT_DEVICE if kind in ON_DEVICE else ABSENT_PROCESS


def _where(process: int, thread: int, absent: int) -> str:
    text = "" if process == absent else f',"pid":{process}'
    return text if thread == ABSENT else f'{text},"tid":{thread}'


def _numbers(*given: tuple[str, Any]) -> Iterable[str]:
    return (f'"{name}":{value}' for name, value in given if value != ABSENT)


def _or_null(value: int, absent: int) -> str:
    return "null" if value == absent else str(value)


def _or_minus_one(value: int) -> int:
    return -1 if value == ABSENT else value


def _meta(what: str, process: int, thread: int | None, name: str) -> str:
    where = f'"pid":{process}' + ("" if thread is None else f',"tid":{thread}')
    return f'{{"ph":"M","name":"{what}",{where},"args":{{"name":{json.dumps(name)}}}}}'
