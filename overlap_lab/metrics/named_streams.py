"""Which stream a host call names, and since when what is enqueued there no longer counts."""

from __future__ import annotations

import numpy as np

from overlap_lab.columns import Ints, Rows, count_before, dense_codes, gather, is_one_of, order, rows_of
from overlap_lab.metrics.ops import Ops
from overlap_lab.schema import ABSENT, NO_CORRELATION, Api, Kind
from overlap_lab.trace import Trace

__all__ = ["WHOLE_DEVICE", "named_streams"]

WHOLE_DEVICE = (
    Api.DEVICE_SYNC,
    Api.CONTEXT_SYNC,
    Api.ALLOC,
    Api.FREE,
    Api.HOST_ALLOC,
    Api.HOST_FREE,
    Api.MODULE_LOAD,
)
"""Calls that no stream bounds, whatever stream number a tool wrote beside them."""


def named_streams(trace: Trace, ops: Ops, calls: Rows) -> tuple[Ints, Ints]:
    """The stream that each call's return depends on, ABSENT where the file names none, and the enqueue
    limit: the call's own start, or that of the record of the event that it waits for."""
    at = gather(ops.links.host, calls)
    api = gather(trace.api, at)
    stream = np.where(is_one_of(api, WHOLE_DEVICE), ABSENT, gather(trace.stream, at))
    limit = gather(trace.start_ns, at)
    waiting = is_one_of(api, (Api.STREAM_SYNC, Api.EVENT_SYNC))
    waiting &= gather(trace.correlation, at) != NO_CORRELATION
    rows = rows_of(trace.kind, (Kind.SYNC,)) if waiting.any() else np.zeros(0, np.int64)
    rows = rows[trace.correlation[rows] != NO_CORRELATION]
    if rows.size == 0:
        return stream, limit
    asked = np.flatnonzero(waiting)
    key = dense_codes(trace.correlation[np.r_[at[asked], rows]], trace.part[np.r_[at[asked], rows]])
    by_key = order(key[asked.size :])
    place = count_before(key[asked.size :][by_key], key[: asked.size])
    found = place < by_key.size
    found[found] = key[asked.size :][by_key[place[found]]] == key[: asked.size][found]
    sync = rows[by_key[np.minimum(place, by_key.size - 1)]]
    named = found & (trace.stream[sync] != ABSENT)
    stream[asked[named]] = trace.stream[sync[named]]
    event = named & (api[asked] == Api.EVENT_SYNC)
    limit[asked[event]] = _event_limit(trace, ops, calls[asked[event]], sync[event])
    return stream, limit


def _event_limit(trace: Trace, ops: Ops, calls: Rows, sync: Ints) -> Ints:
    """Start of the latest record call of the event before each wait; the wait's start where none is known."""
    host = ops.links.host
    records = np.flatnonzero(is_one_of(gather(trace.api, host), (Api.EVENT_RECORD,)))
    records = records[trace.correlation[host[records]] != NO_CORRELATION]
    start = gather(trace.start_ns, host[calls])
    ids = np.r_[trace.wait_correlation[sync], trace.correlation[host[records]]]
    every = np.r_[calls, records]
    rows = host[every]
    key = dense_codes(ids, ops.call_owner(every))
    is_record = np.arange(rows.size) >= calls.size
    by_key = order(key, trace.start_ns[rows], is_record)
    position = np.arange(by_key.size)
    latest = np.maximum.accumulate(np.where(is_record[by_key], position, -1))
    known = (latest >= 0) & (key[by_key][np.maximum(latest, 0)] == key[by_key])
    limit = np.empty(rows.size, np.int64)
    limit[by_key] = np.where(
        known, trace.start_ns[rows[by_key[np.maximum(latest, 0)]]], trace.start_ns[rows[by_key]]
    )
    asked = trace.wait_correlation[sync] != NO_CORRELATION
    return np.where(asked, limit[: calls.size], start)
