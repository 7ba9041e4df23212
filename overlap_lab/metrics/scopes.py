"""What the return of a host call can depend on: streams or whole devices, as sets of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Numbers,
    Rows,
    count_before,
    dense_codes,
    distinct,
    gather,
    largest_of_each,
)
from overlap_lab.intervals import spread
from overlap_lab.link import Link, owned_ops
from overlap_lab.metrics.busy_sets import Entries, busy_pairs
from overlap_lab.metrics.named_streams import named_streams
from overlap_lab.metrics.ops import Ops, grouped
from overlap_lab.metrics.opset import LONG_AGO, OpSet
from overlap_lab.schema import ABSENT, ABSENT_DEVICE
from overlap_lab.trace import Trace

__all__ = [
    "Feeds",
    "OwnOps",
    "Scopes",
    "devices_of",
    "feeds_of",
    "own_ops_of",
    "scopes_of",
    "sets_of",
]

_Key = tuple[int, int, int | None]
"""(owner, device, stream or None for the whole device) of a set of ops."""
_Meant = tuple[int, tuple[int, ...], int]
"""(owner, devices, stream) that calls of a kind can mean."""
_NONE: Final = np.zeros(0, np.int64)
_Kind = tuple[int, int, int]
"""(thread, device, stream) of calls, where the file or their ops tell."""


@dataclass(frozen=True, slots=True, eq=False)
class Feeds:
    """Which devices each thread and each process gives work to."""

    by_thread: dict[int, tuple[int, ...]]
    by_owner: dict[int, tuple[int, ...]]
    threads_by_device: dict[int, Ints]
    owners_by_device: dict[int, Ints]

    def threads(self, device: int) -> Ints:
        """Threads with an enqueue call linked to an op on the device."""
        return self.threads_by_device.get(device, _NONE)

    def owners(self, device: int) -> Ints:
        """Processes that give work to the device."""
        return self.owners_by_device.get(device, _NONE)


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
    one_device: Mask
    """The call can only mean one device."""

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
        columns = ("call", "set_id", "limit", "from_null", "one_device")
        return replace(self, **{name: getattr(self, name)[mask] for name in columns})


def feeds_of(links: Link, ops: Ops) -> Feeds:
    """Devices per feeding thread, and per process whether by a link or by the op's own process."""
    thread, place = links.feeds
    device = links.places.device
    by_thread = _devices_by(thread, device[place])
    by_owner = _devices_by(
        np.concatenate((ops.thread_owner[thread], ops.place_owner)), np.concatenate((device[place], device))
    )
    for owner, loose in ops.unowned.items():
        known = by_owner.get(owner, ())
        more = np.unique(ops.device(loose)).tolist()
        by_owner[owner] = tuple(sorted({*known, *more}))
    return Feeds(by_thread, by_owner, _by_device(by_thread), _by_device(by_owner))


def _devices_by(who: Numbers, device: Ints) -> dict[int, tuple[int, ...]]:
    result: dict[int, list[int]] = {}
    pairs = distinct(who, device)
    for one, number in zip(who[pairs].tolist(), device[pairs].tolist(), strict=True):
        result.setdefault(one, []).append(number)
    return {one: tuple(devices) for one, devices in result.items()}


def _by_device(devices_by: dict[int, tuple[int, ...]]) -> dict[int, Ints]:
    result: dict[int, list[int]] = {}
    for one, devices in devices_by.items():
        for device in devices:
            result.setdefault(device, []).append(one)
    return {device: np.array(who, np.int64) for device, who in result.items()}


def own_ops_of(trace: Trace, links: Link, ops: Ops, calls: Rows) -> OwnOps:
    """The ops that each host call made, or an enqueue call nested in it."""
    first, last = (np.full(calls.size, LONG_AGO, np.int64) for _ in range(2))
    outer = gather(links.outer, calls)
    if not links.several:
        op = gather(links.last_op, outer)
        which = np.flatnonzero(op >= 0)
        op = op[which]
        first[which], last[which] = gather(ops.start, op), gather(ops.end, op)
        return OwnOps(first, last, which, op.astype(np.int64))
    wanted = np.zeros(links.host.size, np.uint8)
    wanted[outer] = 1
    # Of ops that no measure tells apart one is enough: a call around 10^5 others (a corrupt duration) would
    # else give 10^10 pairs.
    lent = links.op, links.caller, links.place, links.outer
    begun, ended, among = native.own_ops(
        trace, lent, wanted, ops.start, ops.end, (trace.copy_kind, trace.memory)
    )
    begun[ended == LONG_AGO] = LONG_AGO
    at = count_before(np.flatnonzero(wanted), outer.astype(np.int64))
    which, owned = owned_ops(links, calls, among.astype(np.int64))
    return OwnOps(gather(begun, at), gather(ended, at), which, owned)


def scopes_of(trace: Trace, ops: Ops, feeds: Feeds, calls: Rows, own: OwnOps) -> Scopes:
    """The scope of each call, in the order of `calls`; `own` are the ops that they made.

    Of a call that could depend on very many sets, such as a copy on the null stream beside 10^4 others, only
    those are here of which an op was outstanding at its start: no other can be what it waited for.
    """
    kinds, keys_of, limit = _kinds(trace, ops, feeds, calls, own)
    numbers: dict[_Key, int] = {}
    flat = np.array([numbers.setdefault(key, len(numbers)) for keys in keys_of for key, _ in keys], np.int64)
    flat_null = np.array([from_null for keys in keys_of for _, from_null in keys], np.bool_)
    lone = np.array([len({key[1] for key, _ in keys}) == 1 for keys in keys_of], np.bool_)
    lengths = np.array([len(keys) for keys in keys_of], np.int64)
    sets = tuple(_set(ops, key) for key in numbers)
    if bool((lengths == 1).all()):
        call, at = np.arange(calls.size), kinds
    else:
        start = gather(trace.start_ns, gather(ops.links.host, calls))
        entries = Entries(lengths, flat, ~flat_null & np.repeat(lone, lengths))
        call, at = busy_pairs(kinds, start, entries, sets)
        limit = gather(limit, call)
    columns = limit, gather(flat_null, at), gather(lone, gather(kinds, call))
    return Scopes(call, gather(flat, at), sets, tuple(numbers), *columns)


def devices_of(trace: Trace, ops: Ops, feeds: Feeds, calls: Rows, own: OwnOps) -> tuple[Ints, Ints]:
    """Pairs (index into `calls`, device that the call could mean)."""
    kinds, keys_of, _ = _kinds(trace, ops, feeds, calls, own)
    devices = [sorted({key[1] for key, _ in keys}) for keys in keys_of]
    lengths = np.array([len(mine) for mine in devices], np.int64)
    flat = np.array([device for mine in devices for device in mine], np.int64)
    begin = np.cumsum(lengths) - lengths
    call, at = spread(gather(begin, kinds), gather(begin + lengths, kinds))
    return call, gather(flat, at)


def _kinds(
    trace: Trace, ops: Ops, feeds: Feeds, calls: Rows, own: OwnOps
) -> tuple[Ints, list[list[tuple[_Key, bool]]], Ints]:
    """The number of each call's kind, the sets that each kind depends on, and each call's enqueue limit.

    Threads that feed the same devices, of one process, have their calls in the same kinds.
    """
    stream, limit = named_streams(trace, ops, calls)
    device = _device(trace, ops, own, calls)
    thread = gather(ops.links.host_thread, calls)
    kinds = dense_codes(thread, device, stream)
    alike: dict[_Meant, int] = {}
    number = []
    for sample in distinct(kinds).tolist():
        kind = int(thread[sample]), int(device[sample]), int(stream[sample])
        number.append(alike.setdefault(_meant(ops, feeds, kind), len(alike)))
    keys_of = [_keys(trace, ops, meant) for meant in alike]
    return gather(np.array(number, np.int64), kinds), keys_of, limit


def _device(trace: Trace, ops: Ops, own: OwnOps, calls: Rows) -> Ints:
    """The device that each call names, or that the op it made ran on; ABSENT_DEVICE where neither says."""
    device = gather(trace.device, gather(ops.links.host, calls)).astype(np.int64)
    device[own.call] = np.where(device[own.call] == ABSENT_DEVICE, ops.device(own.op), device[own.call])
    return device


def _devices(feeds: Feeds, named: int, thread: int, owner: int) -> tuple[int, ...]:
    if named != ABSENT_DEVICE:
        return (named,)
    return feeds.by_thread.get(thread) or feeds.by_owner.get(owner, ())


def sets_of(trace: Trace, ops: Ops, feeds: Feeds, kinds: Iterable[_Kind]) -> list[list[tuple[OpSet, bool]]]:
    """Per kind of calls the sets that they depend on, and whether the null stream brings each in."""
    alike: dict[_Meant, list[tuple[OpSet, bool]]] = {}
    found = []
    for kind in kinds:
        meant = _meant(ops, feeds, kind)
        if meant not in alike:
            alike[meant] = [(_set(ops, key), null) for key, null in _keys(trace, ops, meant)]
        found.append(alike[meant])
    return found


def _set(ops: Ops, key: _Key) -> OpSet:
    owner, device, stream = key
    return ops.of_device(owner, device) if stream is None else ops.of_stream(owner, device, stream)


def _meant(ops: Ops, feeds: Feeds, kind: _Kind) -> _Meant:
    thread, named, stream = kind
    owner = int(ops.thread_owner[thread])
    return owner, _devices(feeds, named, thread, owner), stream


def _keys(trace: Trace, ops: Ops, meant: _Meant) -> list[tuple[_Key, bool]]:
    owner, devices, stream = meant
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
