"""What the return of a host call can depend on: streams or whole devices, as sets of ops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overlap_lab.columns import (
    Ints,
    Mask,
    Numbers,
    count_before,
    dense_codes,
    distinct,
    gather,
    is_one_of,
    largest_of_each,
    order,
    rows_of,
    smallest_of_each,
)
from overlap_lab.intervals import spread
from overlap_lab.link import Link, owned_ops
from overlap_lab.metrics.ops import Ops, grouped
from overlap_lab.metrics.opset import LONG_AGO, OpSet
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, NO_CORRELATION, Api, Kind
from overlap_lab.trace import Trace

__all__ = ["Feeds", "OwnOps", "Scopes", "feeds_of", "own_ops_of", "scopes_of"]

_WHOLE_DEVICE = (
    Api.DEVICE_SYNC,
    Api.CONTEXT_SYNC,
    Api.ALLOC,
    Api.FREE,
    Api.HOST_ALLOC,
    Api.HOST_FREE,
    Api.MODULE_LOAD,
)
"""Calls that no stream bounds, whatever stream number a tool wrote beside them."""

_Key = tuple[int, int, int | None]
"""(owner, device, stream or None for the whole device) of a set of ops."""


@dataclass(frozen=True, slots=True, eq=False)
class Feeds:
    """Which devices each thread and each process gives work to."""

    by_thread: dict[int, tuple[int, ...]]
    by_owner: dict[int, tuple[int, ...]]

    def threads(self, device: int) -> Ints:
        """Threads with an enqueue call linked to an op on the device."""
        return np.array([t for t, devices in self.by_thread.items() if device in devices], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class OwnOps:
    """What a call's own ops did, per call; LONG_AGO where it owns none."""

    first_start: Ints
    last_end: Ints
    call: Ints
    """With `op`: pairs (call, op), of each kind of op on each stream only the one that ended last."""
    op: Ints

    @property
    def exists(self) -> Mask:
        return np.asarray(self.last_end != LONG_AGO)


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """Pairs (call, set of ops) that say what each call can depend on."""

    call: Ints
    """Index of the call, ascending."""
    set_id: Ints
    """Index into `sets`."""
    sets: tuple[OpSet, ...]
    keys: tuple[_Key, ...]
    """Which each set is of."""
    limit: Ints
    """Only ops enqueued before this count: the call's start, or the record of the event it waits for."""
    from_null: Mask
    """The set is a blocking stream that the null stream of the call brings in."""

    def ask(self, question: str, *times: Ints) -> Ints:
        """`question` is a method of OpSet; its arguments are given per pair, and so is the answer."""
        if self.set_id.size and bool((self.set_id == self.set_id[0]).all()):
            return np.asarray(getattr(self.sets[self.set_id[0]], question)(*times), np.int64)
        answer = np.full(self.call.size, LONG_AGO, np.int64)
        for set_id, mine in self.by_set():
            answer[mine] = getattr(self.sets[set_id], question)(*(time[mine] for time in times))
        return answer

    def by_set(self) -> Iterator[tuple[int, Ints]]:
        """Each set that is asked for, with its pairs, ascending."""
        for mine in grouped(self.set_id):
            yield int(self.set_id[mine[0]]), mine

    def device(self) -> Ints:
        """Device of each pair."""
        return np.array([key[1] for key in self.keys], np.int64)[self.set_id]

    def per_call(self, values: Ints, size: int) -> Ints:
        """The largest value of each call's pairs; LONG_AGO where it has none."""
        return largest_of_each(self.call, values, size, initial=LONG_AGO)

    def of_calls(self, asked: Mask) -> Scopes:
        """The pairs of the calls of the mask."""
        return self.where(gather(asked, self.call))

    def where(self, mask: Mask) -> Scopes:
        """The pairs that the mask keeps."""
        return Scopes(
            self.call[mask], self.set_id[mask], self.sets, self.keys, self.limit[mask], self.from_null[mask]
        )


def feeds_of(links: Link, ops: Ops) -> Feeds:
    """Devices per feeding thread, and per process whether by a link or by the op's own process."""
    linked = np.flatnonzero(links.linked)
    call = gather(links.call, linked)
    by_thread = _devices_by(gather(links.thread, call), gather(ops.device, linked))
    call_owner = ops.row_owner(call)
    by_owner = _devices_by(
        np.concatenate((call_owner, ops.owner)), np.concatenate((ops.device[linked], ops.device))
    )
    for owner, loose in ops.unowned.items():
        known = by_owner.get(owner, ())
        more = np.unique(ops.device[loose]).tolist()
        by_owner[owner] = tuple(sorted({*known, *more}))
    return Feeds(by_thread, by_owner)


def _devices_by(who: Numbers, device: Ints) -> dict[int, tuple[int, ...]]:
    result: dict[int, tuple[int, ...]] = {}
    pairs = distinct(who, device)
    for one, number in zip(who[pairs].tolist(), device[pairs].tolist(), strict=True):
        result[one] = (*result.get(one, ()), number)
    return result


def own_ops_of(trace: Trace, links: Link, ops: Ops, calls: Ints) -> OwnOps:
    """The ops that each call made, or an enqueue call nested in it."""
    linked = np.flatnonzero(links.linked)
    outer = np.flatnonzero(links.owns)
    group = count_before(outer, gather(links.outer, gather(links.call, linked)))
    # The entry more is for calls that own nothing.
    first = smallest_of_each(group, gather(ops.start, linked), outer.size + 1, initial=np.iinfo(np.int64).max)
    first[-1] = LONG_AGO
    last = largest_of_each(group, gather(ops.end, linked), outer.size + 1, initial=LONG_AGO)
    wanted = gather(links.outer, calls)
    at = np.where(gather(links.owns, wanted.astype(np.int64)), count_before(outer, wanted), outer.size)
    which, op = owned_ops(links, calls, _last_of_each_kind(trace, links, ops, linked, group))
    return OwnOps(gather(first, at), gather(last, at), which, op)


def _last_of_each_kind(trace: Trace, links: Link, ops: Ops, linked: Ints, group: Ints) -> Ints:
    """Of the ops of a group that no measure tells apart the one that ended last, by the row of the last one.

    One enqueue call around 10^5 others (a corrupt duration) would else give 10^10 pairs.
    """
    if int(links.owns.sum()) == linked.size:
        return linked  # no call has more than one
    row = links.op[linked]
    kinds = dense_codes(
        group,
        *(ops.owner[linked], ops.device[linked], ops.stream[linked], links.device[linked]),
        *(trace.copy_kind[row], trace.memory[row]),
    )
    by_kind = order(kinds, ops.end[linked])
    last = np.ones(by_kind.size, np.bool_)
    last[:-1] = kinds[by_kind][1:] != kinds[by_kind][:-1]
    chosen = by_kind[last]
    return linked[chosen[order(largest_of_each(kinds, linked, chosen.size, initial=0))]]


def scopes_of(trace: Trace, ops: Ops, feeds: Feeds, calls: Ints, own: OwnOps) -> Scopes:
    """The scope of each call, in the order of `calls`; `own` are the ops that they made."""
    kinds, keys_of, limit = _kinds(trace, ops, feeds, calls, own)
    numbers: dict[_Key, int] = {}
    flat = np.array([numbers.setdefault(key, len(numbers)) for keys in keys_of for key, _ in keys], np.int64)
    flat_null = np.array([from_null for keys in keys_of for _, from_null in keys], np.bool_)
    lengths = np.array([len(keys) for keys in keys_of], np.int64)
    if bool((lengths == 1).all()):
        call, at = np.arange(calls.size), kinds
    else:
        begin = gather(np.cumsum(lengths) - lengths, kinds)
        call, at = spread(begin, begin + gather(lengths, kinds))
        limit = gather(limit, call)
    sets = tuple(ops.of_device(k[0], k[1]) if k[2] is None else ops.of_stream(*k[:2], k[2]) for k in numbers)
    return Scopes(call, gather(flat, at), sets, tuple(numbers), limit, gather(flat_null, at))


def _kinds(
    trace: Trace, ops: Ops, feeds: Feeds, calls: Ints, own: OwnOps
) -> tuple[Ints, list[list[tuple[_Key, bool]]], Ints]:
    """The number of each call's kind, the sets that each kind depends on, and each call's enqueue limit."""
    stream, limit = _named_streams(trace, ops, calls)
    device = _device(trace, ops, own, calls)
    thread, owner = gather(ops.thread, calls), ops.row_owner(calls)
    kinds = dense_codes(thread, owner, device, stream)
    keys_of = []
    for sample in distinct(kinds).tolist():
        devices = _devices(feeds, int(device[sample]), int(thread[sample]), int(owner[sample]))
        keys_of.append(_keys(trace, ops, int(owner[sample]), devices, int(stream[sample])))
    return kinds, keys_of, limit


def _device(trace: Trace, ops: Ops, own: OwnOps, calls: Ints) -> Ints:
    """The device that each call names, or that the op it made ran on; ABSENT_DEVICE where neither says."""
    device = gather(trace.device, calls).astype(np.int64)
    device[own.call] = np.where(device[own.call] == ABSENT_DEVICE, ops.device[own.op], device[own.call])
    return device


def _devices(feeds: Feeds, named: int, thread: int, owner: int) -> tuple[int, ...]:
    if named != ABSENT_DEVICE:
        return (named,)
    return feeds.by_thread.get(thread) or feeds.by_owner.get(owner, ())


def _keys(
    trace: Trace, ops: Ops, owner: int, devices: tuple[int, ...], stream: int
) -> list[tuple[_Key, bool]]:
    if stream == ABSENT:
        return [((owner, device, None), False) for device in devices]
    if stream not in trace.source.null_streams:
        return [((owner, device, stream), False) for device in devices]
    keys: list[tuple[_Key, bool]] = []
    for device in devices:
        for other in ops.streams.get((owner, device), ()):
            if other not in trace.source.nonblocking_streams or other == stream:
                keys.append(((owner, device, other), other != stream))
    return keys


def _named_streams(trace: Trace, ops: Ops, calls: Ints) -> tuple[Ints, Ints]:
    """The stream that each call's return depends on, ABSENT where the file names none, and the enqueue
    limit: the call's own start, or that of the record of the event that it waits for."""
    api = gather(trace.api, calls)
    stream = np.where(is_one_of(api, _WHOLE_DEVICE), ABSENT, gather(trace.stream, calls))
    limit = gather(trace.start_ns, calls)
    rows = rows_of(trace.kind, (Kind.SYNC,))
    rows = rows[trace.correlation[rows] != NO_CORRELATION]
    waiting = is_one_of(api, (Api.STREAM_SYNC, Api.EVENT_SYNC))
    waiting &= gather(trace.correlation, calls) != NO_CORRELATION
    if rows.size == 0 or not waiting.any():
        return stream, limit
    asked = np.flatnonzero(waiting)
    key = dense_codes(trace.correlation[np.r_[calls[asked], rows]], trace.part[np.r_[calls[asked], rows]])
    by_key = order(key[asked.size :])
    at = count_before(key[asked.size :][by_key], key[: asked.size])
    found = at < by_key.size
    found[found] = key[asked.size :][by_key[at[found]]] == key[: asked.size][found]
    sync = rows[by_key[np.minimum(at, by_key.size - 1)]]
    named = found & (trace.stream[sync] != ABSENT)
    stream[asked[named]] = trace.stream[sync[named]]
    event = named & (trace.api[calls[asked]] == Api.EVENT_SYNC)
    limit[asked[event]] = _event_limit(trace, ops, calls[asked[event]], sync[event])
    return stream, limit


def _event_limit(trace: Trace, ops: Ops, calls: Ints, sync: Ints) -> Ints:
    """Start of the latest record call of the event before each wait; the wait's start where none is known."""
    host = rows_of(trace.kind, (Kind.API,))
    records = host[is_one_of(trace.api[host], (Api.EVENT_RECORD,))]
    records = records[trace.correlation[records] != NO_CORRELATION]
    start = gather(trace.start_ns, calls)
    ids = np.r_[trace.wait_correlation[sync], trace.correlation[records]]
    rows = np.r_[calls, records]
    key = dense_codes(ids, ops.row_owner(rows))
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
