"""Pairing of calls and ops by sorting: slower than the core's, but for any order of calls and any ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Rows, count_before, dense_codes, distinct, gather, is_one_of
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, ENQUEUE, NO_CORRELATION, Api
from overlap_lab.trace import Trace

__all__ = ["OWNERS", "Columns", "linked_plainly"]

OWNERS = tuple(api for api in ENQUEUE if api is not Api.HOST_FUNC)
"""Enqueue calls that own device ops; a host function leaves no device record."""

_NO_IDS = (NO_CORRELATION, np.iinfo(np.uint64).max)
Columns = tuple[Ints, Ints, Ints, Ints]
"""Part, process, device and stream of places."""
_Found = tuple[Rows, Ints, Ints, Ints, Rows, Columns, tuple[Ints, Ints], bool]


def _has_id(correlation: npt.NDArray[Any]) -> Mask:
    return np.asarray((correlation != _NO_IDS[0]) & (correlation != _NO_IDS[1]))


def linked_plainly(trace: Trace, host: Rows, thread: Rows, captured: Mask | None, op: Rows) -> _Found:
    """What `native.linked_ops` gives, also where many calls share an id, or calls are not in order."""
    owning = is_one_of(gather(trace.api, host), OWNERS) & _has_id(gather(trace.correlation, host))
    if captured is not None:
        owning &= ~captured
    calls = host[owning].astype(np.int64)
    row = op.astype(np.int64)
    call = np.full(op.size, -1, np.int64)
    named = gather(trace.process, op) != ABSENT_PROCESS
    has_id = _has_id(gather(trace.correlation, op))
    for with_process in (True, False):
        mine = np.flatnonzero((named == with_process) & has_id)
        call[mine] = _pair(trace, calls, row[mine], with_process=with_process)
    caller = np.where(call >= 0, count_before(host.astype(np.int64), call), -1).astype(np.int32)
    call = np.where(call >= 0, call, row)
    columns = (
        gather(trace.part, op).astype(np.int64),
        _first_known(trace.process, row, call, ABSENT_PROCESS),
        _first_known(trace.device, row, call, ABSENT_DEVICE),
        _first_known(trace.stream, row, call, ABSENT),
    )
    first, place = distinct(*columns), dense_codes(*columns)
    linked = np.flatnonzero(caller >= 0)
    who, where = gather(thread, gather(caller, linked)).astype(np.int64), place[linked]
    pairs = distinct(who, where)
    start, end = gather(trace.start_ns, op), gather(trace.end_ns, op)
    part, process, device, stream = (column[first] for column in columns)
    places = part, process, device, stream
    enqueue = gather(trace.start_ns, call)
    return caller, enqueue, start, end, place.astype(np.int32), places, (who[pairs], where[pairs]), True


def _pair(trace: Trace, calls: Ints, ops: Ints, *, with_process: bool) -> Ints:
    """For each op the latest call of its key that started before it, else the key's first call, else -1."""
    if calls.size == 0 or ops.size == 0:
        return np.full(ops.size, -1, np.int64)
    keys = [trace.correlation, trace.part, *([trace.process] if with_process else [])]
    return native.calls_of_ops(keys, trace.start_ns, np.concatenate((calls, ops)), calls.size)


def _first_known(column: npt.NDArray[Any], op: Ints, call: Ints, absent: int) -> Ints:
    """Each op's own value, else its call's."""
    known = gather(column, op).astype(np.int64)
    unknown = np.flatnonzero(known == absent)
    known[unknown] = column[call[unknown]]
    return known
