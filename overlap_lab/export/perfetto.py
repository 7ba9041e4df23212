"""Perfetto's own format, by the protocol buffers of the `perfetto` package.

Ops are on a track of their stream under their device, host rows on a track of their thread and kind under
their process. A call and its ops share Perfetto's `correlation_id`; an arrow leads from the op that a wait
depended on to the wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.errors import MissingDependency
from overlap_lab.export.found import Counter, Found, Spans, found_in
from overlap_lab.export.ids import Ids, ids_of
from overlap_lab.export.lanes import lanes_of_nested
from overlap_lab.export.places import places_of
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, NO_CORRELATION, Kind
from overlap_lab.trace import Trace
from overlap_lab.whole_file import whole_file

__all__ = ["write_perfetto"]

_SEQUENCE: Final = 1
_WORDS: Final = {
    Kind.API: "calls",
    Kind.KERNEL: "ops",
    Kind.MEMCPY: "ops",
    Kind.MEMSET: "ops",
    Kind.SYNC: "waited for",
    Kind.RANGE: "ranges",
    Kind.CPU_OP: "framework ops",
    Kind.PYTHON: "Python",
    Kind.DEVICE_RANGE: "ranges",
    Kind.OVERHEAD: "profiler",
}
_PIECE: Final = 4096


def write_perfetto(trace: Trace, path: Path) -> None:
    """Write the file. See `export_trace`. Raises MissingDependency without the `perfetto` package."""
    protos = _protos()
    packets = _Packets(protos, trace, ids_of(trace), found_in(trace))
    with whole_file(path) as stream:
        piece = protos.Trace()
        for packet in packets.all():
            piece.packet.append(packet)
            if len(piece.packet) == _PIECE:
                stream.write(piece.SerializeToString())
                piece = protos.Trace()
        stream.write(piece.SerializeToString())


def _protos() -> Any:
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        raise MissingDependency("perfetto", purpose="Writing Perfetto traces", extra="perfetto") from None
    return perfetto_trace_pb2


class _Packets:
    """Every packet: tracks first, then the events of each track in time."""

    def __init__(self, protos: Any, trace: Trace, ids: Ids, found: Found) -> None:
        self._protos = protos
        self._trace = trace
        self._ids = ids
        self._found = found
        self._uuid = 0
        self._started = False
        self._places = places_of(trace, ids)
        self._flows = _flows(found)

    def all(self) -> Iterator[Any]:
        yield from self._recorded()
        root = self._next()
        yield self._track(root, name="overlap_lab: what was measured")
        for spans in self._found.spans:
            yield from self._spans(root, spans)
        for counter in self._found.counters:
            yield from self._counter(root, counter)

    def _recorded(self) -> Iterator[Any]:
        """A track for each device, process, stream and thread, and one lane each for what overlaps on it."""
        trace = self._trace
        places = self._places
        as_ops = np.where(places.is_op, np.uint8(Kind.KERNEL), trace.kind)
        parents: dict[tuple[bool, int], int] = {}
        for rows in _groups(
            places.on_device.astype(np.int64), places.owner, places.line, as_ops.astype(np.int64)
        ):
            first = int(rows[0])
            key = (bool(places.on_device[first]), int(places.owner[first]))
            if key not in parents:
                parents[key] = self._next()
                yield self._owner(parents[key], *key)
            yield from self._lanes(rows, parents[key], self._line(key[0], int(places.line[first]), first))

    def _owner(self, uuid: int, on_device: bool, number: int) -> Any:
        source = self._trace.source
        if on_device:
            name = "device" if number == ABSENT_DEVICE else f"device {number}"
            known = source.devices.get(number, "")
        else:
            name = "process" if number == ABSENT_PROCESS else f"process {number}"
            known = source.processes.get(number, "")
        return self._track(uuid, name=f"{name}: {known}" if known else name)

    def _line(self, on_device: bool, number: int, row: int) -> str:
        what = _WORDS[Kind(int(self._trace.kind[row]))]
        if number == ABSENT:
            return what
        return f"{'stream' if on_device else 'thread'} {number}: {what}"

    def _lanes(self, rows: Ints, parent: int, name: str) -> Iterator[Any]:
        if self._places.is_op[rows[0]]:
            lane = self._places.lane[rows]
        else:
            lane = lanes_of_nested(self._trace.start_ns[rows], self._trace.end_ns[rows])
        for number in range(int(lane.max()) + 1):
            uuid = self._next()
            yield self._track(uuid, name=f"{name}, lane {number + 1}" if number else name, parent=parent)
            yield from self._rows(uuid, rows[lane == number])

    def _rows(self, uuid: int, rows: Ints) -> Iterator[Any]:
        trace, ids = self._trace, self._ids
        ends = np.maximum(trace.end_ns[rows], trace.start_ns[rows])
        for begins, at in _in_time(trace.start_ns[rows], ends):
            row = int(rows[at])
            packet = self._event(int(trace.start_ns[row] if begins else ends[at]), uuid)
            event = packet.track_event
            event.type = event.TYPE_SLICE_BEGIN if begins else event.TYPE_SLICE_END
            if begins:
                event.name = _text(trace.name_of(row))
                event.categories.append(Kind(int(trace.kind[row])).name.lower())
                if ids.correlation[row] != NO_CORRELATION:
                    event.correlation_id = int(ids.correlation[row])
                self._annotate(event, row)
            flow = self._flows.get(row)
            if flow is not None and flow[1] == ("begin" if begins else "end"):
                (event.terminating_flow_ids if flow[2] else event.flow_ids).extend(flow[0])
            yield packet

    def _annotate(self, event: Any, row: int) -> None:
        trace = self._trace
        for name, value, absent in (
            ("bytes", trace.bytes[row], ABSENT),
            ("graph", trace.graph[row], ABSENT),
            ("queue", trace.queue[row], ABSENT),
            ("stream", trace.stream[row], ABSENT),
            ("device", trace.device[row], ABSENT_DEVICE),
        ):
            if value != absent:
                note = event.debug_annotations.add()
                note.name, note.int_value = name, int(value)

    def _spans(self, parent: int, spans: Spans) -> Iterator[Any]:
        uuid = self._next()
        yield self._track(uuid, name=spans.track, parent=parent)
        for begins, at in _in_time(spans.start_ns, spans.end_ns):
            packet = self._event(int((spans.start_ns if begins else spans.end_ns)[at]), uuid)
            event = packet.track_event
            event.type = event.TYPE_SLICE_BEGIN if begins else event.TYPE_SLICE_END
            if begins:
                event.name = _text(spans.labels[int(spans.label[at])])
                event.categories.append("overlap_lab")
            yield packet

    def _counter(self, parent: int, counter: Counter) -> Iterator[Any]:
        uuid = self._next()
        yield self._track(uuid, name=counter.track, parent=parent, unit=counter.unit)
        for time, value in zip(counter.time_ns.tolist(), counter.value.tolist(), strict=True):
            packet = self._event(time, uuid)
            packet.track_event.type = packet.track_event.TYPE_COUNTER
            packet.track_event.counter_value = value
            yield packet

    def _next(self) -> int:
        self._uuid += 1
        return self._uuid

    def _track(self, uuid: int, *, name: str, parent: int | None = None, unit: str | None = None) -> Any:
        packet = self._packet()
        packet.track_descriptor.uuid = uuid
        packet.track_descriptor.name = _text(name)
        if parent is not None:
            packet.track_descriptor.parent_uuid = parent
        if unit is not None:
            counter = packet.track_descriptor.counter
            counter.unit = counter.UNIT_TIME_NS if unit == "ns" else counter.UNIT_COUNT
        return packet

    def _event(self, time_ns: int, uuid: int) -> Any:
        packet = self._packet()
        packet.timestamp = max(time_ns, 0)
        packet.track_event.track_uuid = uuid
        return packet

    def _packet(self) -> Any:
        packet = self._protos.TracePacket()
        packet.trusted_packet_sequence_id = _SEQUENCE
        if not self._started:
            self._started = True
            packet.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED
            packet.first_packet_on_sequence = True
        return packet


def _flows(found: Found) -> dict[int, tuple[list[int], str, bool]]:
    """Row -> its arrows, at which of its edges they are, and whether they end there."""
    flows: dict[int, tuple[list[int], str, bool]] = {}
    pairs = zip(found.arrows.op.tolist(), found.arrows.wait.tolist(), strict=True)
    for number, (op, wait) in enumerate(pairs, start=1):
        flows.setdefault(op, ([], "begin", False))[0].append(number)
        flows.setdefault(wait, ([], "begin", True))[0].append(number)
    return flows


def _groups(*keys: Ints) -> list[Ints]:
    """The rows with equal keys, each in order."""
    if not keys[0].size:
        return []
    order = np.lexsort(keys[::-1])
    changes = np.zeros(order.size - 1, bool)
    for key in keys:
        ordered = key[order]
        changes |= ordered[1:] != ordered[:-1]
    return np.split(order, np.flatnonzero(changes) + 1)


def _in_time(start: Ints, end: Ints) -> Iterator[tuple[bool, int]]:
    """The edges of nested spans in the order that viewers want: (begins, which), the inner ones inside."""
    open_spans: list[tuple[int, int]] = []
    for at, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while open_spans and open_spans[-1][0] <= begins:
            yield False, open_spans.pop()[1]
        yield True, at
        open_spans.append((ends, at))
    while open_spans:
        yield False, open_spans.pop()[1]


def _text(text: str) -> str:
    """The text with halves of surrogate pairs replaced, which protocol buffers refuse."""
    return text.encode("utf-8", "replace").decode()
