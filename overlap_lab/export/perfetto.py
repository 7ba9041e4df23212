"""Perfetto's own format, by the protocol buffers of the `perfetto` package.

Ops are on a track of their stream under their device, host rows on a track of their thread and kind under
their process. A call and its ops share Perfetto's `correlation_id`; an arrow leads from the op that a wait
depended on to the wait's return. Perfetto drops an arrow whose end comes before its start in time.
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
from overlap_lab.export.places import places_of
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, NO_CORRELATION, Kind
from overlap_lab.trace import Trace
from overlap_lab.whole_file import whole_file

__all__ = ["write_perfetto"]

_SEQUENCE: Final = 1
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
        self._leaving = _numbers_by_row(found.arrows.op)

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
        parents: dict[tuple[bool, int], int] = {}
        for line in places_of(self._trace, self._ids).lines(hosts=True):
            owner = (line.on_device, line.owner)
            if owner not in parents:
                parents[owner] = self._next()
                yield self._owner(parents[owner], *owner)
            for lane, rows in enumerate(line.lanes):
                uuid = self._next()
                yield self._track(uuid, name=line.lane_name(lane), parent=parents[owner])
                yield from self._rows(uuid, rows)

    def _owner(self, uuid: int, on_device: bool, number: int) -> Any:
        source = self._trace.source
        if on_device:
            name = "device" if number == ABSENT_DEVICE else f"device {number}"
            known = source.devices.get(number, "")
        else:
            name = "process" if number == ABSENT_PROCESS else f"process {number}"
            known = source.processes.get(number, "")
        return self._track(uuid, name=f"{name}: {known}" if known else name)

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
                event.flow_ids.extend(self._leaving.get(row, ()))
                self._annotate(event, row)
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
            if spans.arrow is not None and spans.lands_at_end is not None:
                number = int(spans.arrow[at])
                if number and begins != bool(spans.lands_at_end[at]):
                    event.terminating_flow_ids.append(number)
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


def _numbers_by_row(rows: Ints) -> dict[int, list[int]]:
    """Row -> its arrows, counted from 1."""
    numbers: dict[int, list[int]] = {}
    for number, row in enumerate(rows.tolist(), start=1):
        numbers.setdefault(row, []).append(number)
    return numbers


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
