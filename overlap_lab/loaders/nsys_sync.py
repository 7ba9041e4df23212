"""Synchronization records of an Nsight Systems export: which stream or event a host call waited for.

`syncType` alone is not believed: real exports give stream synchronizes the number that their own ENUM table
calls a stream's wait for an event. The runtime call with the record's correlation id says what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.columns import dense_codes
from overlap_lab.loaders.alike import CodedNumbers
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.nsys_ops import correlations
from overlap_lab.loaders.nsys_tables import NsysTables, distinct_rows, known_ids
from overlap_lab.loaders.nsys_target import Target, owners
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, NO_CORRELATION, Api, Kind
from overlap_lab.trace import Column, Mask

__all__ = ["add_syncs"]

_SYNC: Final = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
_EVENT: Final = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
_TYPES: Final = {
    1: "TYPE_EVENT_SYNCHRONIZE",
    2: "TYPE_STREAM_WAIT_EVENT",
    3: "TYPE_STREAM_SYNCHRONIZE",
    4: "TYPE_CONTEXT_SYNCHRONIZE",
}
_BY_SYMBOL: Final = {
    "EVENT_SYNCHRONIZE": Api.EVENT_SYNC,
    "STREAM_WAIT_EVENT": Api.STREAM_WAIT_EVENT,
    "STREAM_SYNCHRONIZE": Api.STREAM_SYNC,
    "CONTEXT_SYNCHRONIZE": Api.CONTEXT_SYNC,
}
_NAMES: Final = {
    Api.EVENT_SYNC: "Event sync",
    Api.STREAM_WAIT_EVENT: "Stream wait event",
    Api.STREAM_SYNC: "Stream sync",
    Api.CONTEXT_SYNC: "Context sync",
    Api.OTHER: "Sync",
}
_AS: Final = {Api.DEVICE_SYNC: Api.CONTEXT_SYNC, Api.QUERY: Api.EVENT_SYNC}
"""Calls whose records are of the kind of another call."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Records with an owner, a call's id, an event, a stream and the device of their context."""

    part: Column
    process: Column
    correlation: Column
    event: Column
    pairing: Column
    """Ties a wait to the record of the event; ABSENT in exports that lack it."""
    stream: Column
    device: Column


def add_syncs(
    tables: NsysTables, target: Target, calls: Columns, builder: TraceBuilder, findings: Findings
) -> None:
    """Add a SYNC row per record; tell `calls`, in place, the streams and devices that they name."""
    start, end, kind = tables.integers(_SYNC, "start", "end", "syncType")
    rows, events = _rows(tables, _SYNC, target), _rows(tables, _EVENT, target)
    call = _calls_of(calls, rows)
    what = _what(tables, calls, call, kind, findings)
    waits_for_event = np.isin(what, (Api.EVENT_SYNC, Api.STREAM_WAIT_EVENT))
    record = np.where(waits_for_event, _records_of(events, rows), -1)
    known = record >= 0
    waited, link = np.full(what.size, ABSENT), np.full(what.size, NO_CORRELATION, np.uint64)
    waited[known], link[known] = events.stream[record[known]], events.correlation[record[known]]
    device = rows.device.copy()  # for an event, CUPTI gives the context that the event was made in
    on_stream = what == Api.STREAM_SYNC
    waited[on_stream] = rows.stream[on_stream]
    codes = {api: builder.interned([name])[0] for api, name in _NAMES.items()} if what.size else {}
    columns = {
        "start_ns": start,
        "end_ns": end,
        "part": rows.part,
        "process": rows.process,
        "correlation": rows.correlation,
        "stream": waited,
        "device": device,
        "wait_correlation": link,
    }
    by_api = np.zeros(max(Api) + 1, np.int32)
    by_api[list(codes)] = list(codes.values())
    names = by_api[what]
    builder.add_timed(Kind.SYNC, names, columns, findings)
    named = np.where(what == Api.STREAM_WAIT_EVENT, rows.stream, waited)
    _tell(calls, call, named, device)
    _tell(calls, _calls_of(calls, events), events.stream, events.device)


def _rows(tables: NsysTables, table: str, target: Target) -> _Rows:
    rows = tables.columns(
        table, ("correlationId", "eventId", "eventSyncId"), ("globalPid", "contextId", "streamId")
    )
    pid, stream, pairing = rows.few["globalPid"], rows.few["streamId"], known_ids(rows["eventSyncId"])
    owner = owners(pid.values)
    return _Rows(
        part=pid.each(owner["part"]),
        process=pid.each(owner["process"]),
        correlation=correlations(rows["correlationId"]),
        event=known_ids(rows["eventId"]),
        pairing=np.where(pairing == 0, ABSENT, pairing),
        stream=stream.each(known_ids(stream.values)),
        device=target.context_devices(pid, rows.few["contextId"]),
    )


def _calls_of(calls: Columns, rows: _Rows) -> Column:
    """The call with each row's id in its process; -1 where there is none."""
    size = rows.part.size
    if not size:
        return np.zeros(0, np.int64)
    code = dense_codes(
        np.r_[rows.part, calls["part"]],
        np.r_[rows.process, calls["process"]],
        np.r_[rows.correlation, calls["correlation"]],
    )
    known, first = np.unique(code[size:], return_index=True)
    if not known.size:
        return np.full(size, -1, np.int64)
    at = np.minimum(np.searchsorted(known, code[:size]), known.size - 1)
    found = (known[at] == code[:size]) & (rows.correlation != NO_CORRELATION)
    return np.where(found, first[at], -1)


def _what(tables: NsysTables, calls: Columns, call: Column, kind: Column, findings: Findings) -> Column:
    """What each record is, as the call that made it: by that call, else by the file's name for its type."""
    types = tables.enum("ENUM_CUPTI_SYNC_TYPE", _TYPES)
    by_number = {n: _BY_SYMBOL.get(name.rpartition("TYPE_")[2], Api.OTHER) for n, name in types.items()}
    (numbers,), place = distinct_rows(CodedNumbers.of(kind))
    stored = np.array([by_number.get(number, Api.OTHER) for number in numbers.tolist()], np.uint8)[place]
    said = np.where(call >= 0, calls["api"][call], Api.OTHER) if calls["api"].size else stored
    for api, alike in _AS.items():
        said[said == api] = alike
    told = np.isin(said, list(_BY_SYMBOL.values()))
    against = int((told & (said != stored)).sum())
    if against:
        findings.note(
            f"{against} synchronization records have a syncType that their runtime call contradicts; "
            "the call decides."
        )
    return np.where(told, said, stored)


def _records_of(events: _Rows, rows: _Rows) -> Column:
    """For each row the latest record of its event made before it; -1 where none is known.

    Ids of calls grow with time. The pairing id is asked first, then the event's own id, which is reused.
    """
    by_pairing = _latest(events, rows, events.pairing, rows.pairing)
    by_event = _latest(events, rows, events.event, rows.event)
    return np.where(rows.event == ABSENT, -1, np.where(by_pairing >= 0, by_pairing, by_event))


def _latest(events: _Rows, rows: _Rows, recorded: Column, asked: Column) -> Column:
    size = asked.size
    key = dense_codes(
        np.r_[rows.part, events.part], np.r_[rows.process, events.process], np.r_[asked, recorded]
    )
    is_record: Mask = np.arange(key.size) >= size
    order = np.lexsort((is_record, np.r_[rows.correlation, events.correlation], key))
    place = np.arange(key.size)
    before = np.maximum.accumulate(np.where(is_record[order], place, -1)) if key.size else place
    same = (before >= 0) & (key[order][before] == key[order])
    found = np.empty(key.size, np.int64)
    found[order] = np.where(same, order[np.maximum(before, 0)] - size, -1)
    return np.where(asked == ABSENT, -1, found[:size])


def _tell(calls: Columns, call: Column, stream: Column, device: Column) -> None:
    """Give calls the stream and device of their rows, where those are known."""
    for name, value, absent in (("stream", stream, ABSENT), ("device", device, ABSENT_DEVICE)):
        known = (call >= 0) & (value != absent)
        calls[name][call[known]] = value[known]
