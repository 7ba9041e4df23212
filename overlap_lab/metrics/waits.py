"""The waits of a trace: which calls blocked their thread, why, and until when the device was the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Rows,
    gather,
    is_one_of,
    order,
    smallest_of_each,
)
from overlap_lab.intervals import outermost
from overlap_lab.metrics.evidence import (
    Calls,
    calls_of,
    is_pinned,
    is_sync,
    lock_waits,
    synchronous,
    tentative,
)
from overlap_lab.metrics.material import Material
from overlap_lab.metrics.ops import Groups
from overlap_lab.metrics.opset import LONG_AGO
from overlap_lab.metrics.queue import entries_of
from overlap_lab.metrics.scopes import Scopes, devices_of, own_ops_of
from overlap_lab.schema import ALWAYS_WAITS, Api, Fault, Reason

__all__ = ["REASONS", "Waits", "waits_of"]

REASONS = tuple(Reason)
_LAUNCHES = (Api.LAUNCH, Api.GRAPH_LAUNCH)
_REASON_OF = {
    Api.STREAM_SYNC: Reason.STREAM_SYNC,
    Api.DEVICE_SYNC: Reason.DEVICE_SYNC,
    Api.CONTEXT_SYNC: Reason.DEVICE_SYNC,
    Api.EVENT_SYNC: Reason.EVENT_SYNC,
    Api.MEMCPY: Reason.SYNC_COPY,
    Api.MEMCPY_ASYNC: Reason.PAGEABLE_COPY,
    Api.ALLOC: Reason.ALLOC_FREE,
    Api.FREE: Reason.ALLOC_FREE,
    Api.HOST_ALLOC: Reason.ALLOC_FREE,
    Api.HOST_FREE: Reason.ALLOC_FREE,
    Api.LAUNCH: Reason.QUEUE_FULL,
    Api.GRAPH_LAUNCH: Reason.QUEUE_FULL,
    Api.MODULE_LOAD: Reason.MODULE_LOAD,
}


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Calls that waited, nested ones left out, in row order; entry i of every array is wait i."""

    row: Rows
    start: Ints
    end: Ints
    counted_from: Ints
    """Where the call's share of its thread's blocked time begins: after any earlier wait that overlaps it."""
    bound_end: Ints
    """End of the last op it depended on, within [counted_from, end]."""
    reason: Ints
    """Index into REASONS."""
    explicit: Mask
    thread: Ints
    scopes: Scopes
    """What each wait can depend on; empty for a lock, which depends on another thread."""
    redundant: Rows
    """Synchronize calls, by index of the host call, that waited for nothing."""
    unknown: Rows
    """Long ones that may have waited for work outside of the file."""
    floors: Mapping[str, int]
    """Floor of each call name that has one of its own."""
    own_call: Ints
    """With `own_op`: pairs (wait, op that the waiting call itself made)."""
    own_op: Ints

    def where(self, keep: Mask) -> Waits:
        """The waits of the mask; the others count as calls that waited for nothing."""
        position = np.cumsum(keep) - 1
        mine, own = keep[self.scopes.call], keep[self.own_call]
        scopes = self.scopes.where(mine)
        kept = {name: getattr(self, name)[keep] for name in _PER_WAIT}
        return replace(
            self,
            **kept,
            counted_from=_counted_from(kept["thread"], kept["start"], kept["end"]),
            scopes=replace(scopes, call=position[scopes.call]),
            own_call=position[self.own_call[own]],
            own_op=self.own_op[own],
        )


_PER_WAIT = ("row", "start", "end", "bound_end", "reason", "explicit", "thread")


@dataclass(frozen=True, slots=True, eq=False)
class _Verdict:
    """Per call: whether it waited, until when the device was the reason, why, and whether for a lock."""

    waited: Mask
    bound: Ints
    reason: Ints
    held: Mask


def waits_of(material: Material) -> Waits:
    """Classify every host call that could wait."""
    calls = calls_of(material)
    always, always_bound = synchronous(calls)
    may, may_bound = tentative(material, calls)
    may &= ~is_one_of(calls.api, _LAUNCHES) | _queue_full(material, calls, may)
    waited, bound = always | may, np.where(always, always_bound, may_bound)
    settled = waited & ~is_one_of(calls.api, (Api.STREAM_WAIT_EVENT, Api.EVENT_RECORD))
    held, released = lock_waits(calls, settled, bound)
    reason = _reasons(material, calls, held)
    verdict = _Verdict(waited | held, np.where(held, released, bound), reason, held)
    redundant, unknown = _empty_syncs(material, calls, verdict.waited)
    return _waits(calls, verdict, redundant, unknown)


def _waits(calls: Calls, verdict: _Verdict, redundant: Rows, unknown: Rows) -> Waits:
    chosen = np.flatnonzero(verdict.waited)
    outer = outermost(calls.thread[chosen], calls.start[chosen], calls.end[chosen])
    chosen = chosen[outer == np.arange(chosen.size)]
    start, end, thread = calls.start[chosen], calls.end[chosen], calls.thread[chosen]
    counted_from = _counted_from(thread, start, end)
    position = np.full(calls.row.size, -1, np.int64)
    position[chosen] = np.arange(chosen.size)
    kept = (position >= 0) & ~verdict.held
    scopes = calls.scopes.where(kept[calls.scopes.call])
    own = kept[calls.own.call]
    return Waits(
        row=calls.row[chosen],
        start=start,
        end=end,
        counted_from=counted_from,
        bound_end=np.clip(verdict.bound[chosen], counted_from, end),
        reason=verdict.reason[chosen],
        explicit=is_one_of(calls.api[chosen], ALWAYS_WAITS),
        thread=thread,
        scopes=replace(scopes, call=position[scopes.call]),
        redundant=redundant,
        unknown=unknown,
        floors=calls.floors,
        own_call=position[calls.own.call[own]],
        own_op=calls.own.op[own],
    )


def _queue_full(material: Material, calls: Calls, waited: Mask) -> Mask:
    """Of the launches that seem to have waited those at depths where at least two and three quarters did."""
    trace, links = material.trace, material.links
    seem = np.zeros(links.host.size, np.bool_)
    slow = calls.index[is_one_of(calls.api, _LAUNCHES) & waited]
    seem[slow[links.outer[slow] == slow]] = True
    full = np.zeros(links.host.size, np.bool_)
    if seem.any():
        launches = links.calls_of(trace, _LAUNCHES)
        launches = launches[gather(links.outer, launches) == launches]
        for number, mine in _launches_by_device(material, launches).items():
            entered, left = entries_of(trace, material.ops, material.devices[number])
            full[native.full_queue(trace, links.host, mine, seem.view(np.uint8), entered, left)] = True
    return full[calls.index]


def _launches_by_device(material: Material, launches: Rows) -> dict[int, Rows]:
    """The launches for each device: by their ops, where they have none by their scope."""
    links = material.links
    bare = launches[gather(links.last_op, launches) < 0]
    own = own_ops_of(material.trace, links, material.ops, bare)
    call, device = devices_of(material.trace, material.ops, material.feeds, bare, own)
    of_device = Groups.of_codes(device)
    result = {}
    for number, lane in material.devices.items():
        maker = gather(links.caller, lane.index)
        found = np.r_[gather(links.outer, maker[maker >= 0]), bare[call[of_device.of((number,))]]]
        result[number] = launches[np.isin(launches, found)]
    return result


def _reasons(material: Material, calls: Calls, held: Mask) -> Ints:
    table = np.full(max(Api) + 1, REASONS.index(Reason.OTHER), np.int64)
    for api, why in _REASON_OF.items():
        table[api] = REASONS.index(why)
    reason = table[calls.api]
    reason[is_pinned(material, calls) & (calls.api == Api.MEMCPY_ASYNC)] = REASONS.index(Reason.OTHER)
    reason[held] = REASONS.index(Reason.LOCK)
    return reason


def _empty_syncs(material: Material, calls: Calls, waited: Mask) -> tuple[Rows, Rows]:
    """Synchronizes that waited for nothing: surely, and perhaps only as far as the file shows."""
    empty = np.flatnonzero(is_sync(calls.api) & ~waited)
    lapped = np.flatnonzero(is_sync(calls.api) | waited)
    outer = lapped[outermost(calls.thread[lapped], calls.start[lapped], calls.end[lapped])]
    is_outer = np.zeros(calls.row.size, np.bool_)
    is_outer[lapped[outer == lapped]] = True
    empty = empty[is_outer[empty]]
    perhaps = ~calls.outstanding[empty] & (calls.end[empty] - calls.start[empty] > calls.floor[empty])
    if perhaps.any() and not _window_of_longer_run(material):
        perhaps &= _first_of_process(material, calls.index[empty])
    return calls.index[empty[~perhaps]], calls.index[empty[perhaps]]


def _window_of_longer_run(material: Material) -> bool:
    """Whether records are missing, so that work outside of the file could be what a call waited for."""
    cut = bool(material.trace.source.faults.get(Fault.TRUNCATED, 0))
    return cut or bool((material.links.caller < 0).any()) or material.lost_launches.size > 0


def _first_of_process(material: Material, calls: Rows) -> Mask:
    """Calls that no host call of their process comes before: the file begins in the middle of a run."""
    trace, links, thread_owner = material.trace, material.links, material.ops.thread_owner
    host = links.host
    first = smallest_of_each(
        links.host_thread, gather(trace.start_ns, host), thread_owner.size, initial=np.iinfo(np.int64).max
    )
    size = int(thread_owner.max(initial=-1)) + 1
    first = smallest_of_each(thread_owner, first, size, initial=np.iinfo(np.int64).max)
    return np.asarray(trace.start_ns[host[calls]] == first[material.ops.call_owner(calls)])


def _counted_from(thread: Ints, start: Ints, end: Ints) -> Ints:
    """Start of each wait's share of the union of its thread's waits; shares are disjoint and sum to it."""
    counted = start.copy()
    by_start = order(thread, start, end, descending=0b100)
    previous = LONG_AGO
    same = np.r_[False, thread[by_start][1:] == thread[by_start][:-1]]
    overlap = np.flatnonzero(same & (np.r_[LONG_AGO, end[by_start][:-1]] > start[by_start]))
    if overlap.size == 0:
        return counted
    for position, index in enumerate(by_start.tolist()):
        previous = previous if same[position] else LONG_AGO
        counted[index] = min(max(int(start[index]), previous), int(end[index]))
        previous = max(previous, int(end[index]))
    return counted
