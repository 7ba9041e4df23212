"""Which host calls waited for the device, by what ended when: section "Host blocking" of the measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    Mask,
    Rows,
    code_bits,
    count_before,
    count_until,
    gather,
    is_one_of,
    largest_of_each,
    order,
)
from overlap_lab.intervals import spread
from overlap_lab.metrics.material import Material
from overlap_lab.metrics.named_streams import WHOLE_DEVICE
from overlap_lab.metrics.opset import LONG_AGO
from overlap_lab.metrics.scopes import OwnOps, Scopes, own_ops_of, scopes_of, sets_of
from overlap_lab.metrics.settings import (
    FLOOR_NS,
    LONGEST_FLOOR_NS,
    NEARNESS_NS,
    RECORD_FLOORS,
    SAMPLES_FOR_OWN_FLOOR,
    SLACK_NS,
)
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ALWAYS_WAITS, MAY_WAIT, Api, CopyKind, Memory
from overlap_lab.trace import Trace

__all__ = ["Calls", "calls_of", "is_pinned", "is_sync", "lock_waits", "scoped", "synchronous", "tentative"]

_SYNCS = tuple(api for api in ALWAYS_WAITS if api is not Api.MEMCPY)
_ALL_MUST_END = (
    Api.ALLOC,
    Api.FREE,
    Api.HOST_ALLOC,
    Api.HOST_FREE,
    Api.STREAM_DESTROY,
    Api.MODULE_LOAD,
)
_EVENT_CALLS = (Api.STREAM_WAIT_EVENT, Api.EVENT_RECORD)
_RULES: Final[dict[str, int]] = {
    "always": code_bits(ALWAYS_WAITS),
    "may": code_bits(MAY_WAIT),
    "whole_device": code_bits(WHOLE_DEVICE),
    "floor_ns": FLOOR_NS,
    "absent_device": ABSENT_DEVICE,
    "absent_stream": ABSENT,
}


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Host calls that could wait, with what their return can depend on."""

    index: Rows
    """Index of the host call."""
    row: Rows
    api: npt.NDArray[np.uint8]
    start: Ints
    end: Ints
    scopes: Scopes
    own: OwnOps
    outstanding: Mask
    """Something of the scope was outstanding at the call's start."""
    thread: Ints
    owner: Ints
    floor: Ints
    """A may-wait call must last longer than this to be asked what it waited for."""
    floors: Mapping[str, int]
    """Floor of each call name that has one of its own."""


def calls_of(material: Material) -> Calls:
    """Every call that waits by name, and every other that may have waited: those that are long enough."""
    trace, links, ops = material.trace, material.links, material.ops
    lent = (links.host, links.host_thread, links.outer, links.last_op, links.place, links.places.device)
    captured = None if links.captured is None else links.captured.view(np.uint8)
    index, kind, kinds = native.sorted_calls(trace, _RULES, lent, captured)
    row = gather(links.host, index)
    own, scopes = scoped(material, index)
    start, end = gather(trace.start_ns, row), gather(trace.end_ns, row)
    outstanding = scopes.per_call(scopes.ask("reach_before", scopes.limit), row.size) > start
    floor, floors = _floors(trace, row, outstanding, _free_calls(material, kind, kinds))
    return Calls(
        index=index,
        row=row,
        api=gather(trace.api, row),
        start=start,
        end=end,
        scopes=scopes,
        own=own,
        outstanding=outstanding,
        thread=gather(links.host_thread, index).astype(np.int64),
        owner=ops.call_owner(index),
        floor=floor,
        floors=floors,
    )


def scoped(material: Material, index: Rows) -> tuple[OwnOps, Scopes]:
    """What some host calls made, and what each can depend on."""
    trace, links = material.trace, material.links
    own = own_ops_of(trace, links, material.ops, index)
    scopes = scopes_of(trace, material.ops, material.feeds, index, own)
    return own, _without_bystanders(scopes, own, gather(trace.start_ns, gather(links.host, index)))


def _free_calls(material: Material, kind: Rows, kinds: Sequence[tuple[int, int, int]]) -> tuple[Ints, Ints]:
    """How many calls of each name, the first that of those without one, are too short to be asked and found
    nothing outstanding, and how long the longest of these was."""
    trace, links = material.trace, material.links
    sets = sets_of(trace, material.ops, material.feeds, kinds)
    scopes = [[(each.enqueue, each.reach, null) for each, null in mine] for mine in sets]
    own_end = None
    if any(null for mine in sets for _, null in mine):
        own_end = own_ops_of(trace, links, material.ops, np.arange(links.host.size, dtype=np.int32)).last_end
    count, longest = native.free_calls(trace, links.host, kind, scopes, own_end, len(trace.names))
    return np.array(count, np.int64), np.array(longest, np.int64)


def _without_bystanders(scopes: Scopes, own: OwnOps, start: Ints) -> Scopes:
    """Without the streams that a null-stream copy did not wait for: their work ran on past the copy."""
    if not scopes.from_null.any():
        return scopes
    reach = scopes.ask("reach_before", scopes.limit)
    copied = own.last_end[scopes.call]
    ran_on = (copied != LONG_AGO) & (reach > copied) & (reach > start[scopes.call])
    return scopes.where(~(scopes.from_null & ran_on))


def synchronous(calls: Calls) -> tuple[Mask, Ints]:
    """Per call whether it is an always-wait that waited, and the end of the last op it depended on.

    A synchronous copy without a record of its copy waited too, with LONG_AGO as that end unless an op of
    its scope ended meanwhile.
    """
    by_name = is_one_of(calls.api, ALWAYS_WAITS)
    until = calls.end + SLACK_NS
    bound = _last_ends(calls, until, by_name)
    copy = calls.api == Api.MEMCPY
    copied = copy & calls.own.exists & (calls.own.last_end <= until)
    bound = np.where(copied, np.maximum(bound, calls.own.last_end), bound)
    waited = by_name & ((bound != LONG_AGO) | (copy & ~calls.own.exists))
    return waited, np.minimum(bound, calls.end)


def _floors(
    trace: Trace, row: Rows, outstanding: Mask, short: tuple[Ints, Ints]
) -> tuple[Ints, dict[str, int]]:
    """The floor of each call, and of each name that has one of its own.

    `short` are the calls that are too short to be asked, as `_free_calls` counts them.
    """
    duration = gather(trace.end_ns, row) - gather(trace.start_ns, row)
    names = gather(trace.name, row).astype(np.int64)
    floor = np.full(row.size, FLOOR_NS, np.int64)
    own: dict[str, int] = {}
    free = ~outstanding
    counts = np.bincount(names[free] + 1, minlength=short[0].size)
    for name in (np.flatnonzero(counts + short[0] >= SAMPLES_FOR_OWN_FLOOR) - 1).tolist():
        its = names == name
        limit = _own_floor(duration[free & its], *(int(column[name + 1]) for column in short))
        floor[its] = limit
        own[trace.names[name] if name >= 0 else ""] = limit
    return floor, own


def _own_floor(asked: Ints, short: int, longest: int) -> int:
    """The 99th percentile, within limits, of the calls that were asked and of so many that are no longer than
    the least limit, of which only the longest is known: the others cannot be told apart from it."""
    long = np.sort(asked[asked > FLOOR_NS])
    size = asked.size + short
    brief = size - long.size
    top = max(longest, int(asked[asked <= FLOOR_NS].max(initial=longest)))
    place = (size - 1) * 0.99
    low, high = (
        int(long[at - brief]) if at >= brief else top for at in (int(place), min(int(place) + 1, size - 1))
    )
    share = place - int(place)  # as numpy interpolates
    tail = high - (high - low) * (1 - share) if share >= 0.5 else low + (high - low) * share
    return int(np.clip(round(tail), FLOOR_NS, LONGEST_FLOOR_NS))


def tentative(material: Material, calls: Calls) -> tuple[Mask, Ints]:
    """Per call whether the evidence of a may-wait call holds, and the end of the last op it depended on.

    For launches that is only what each launch shows by itself; the queue must look full besides.
    """
    long = is_one_of(calls.api, MAY_WAIT) & (calls.end - calls.start > calls.floor)
    ended = _last_ends(calls, calls.end, long)
    ended = np.where(ended >= calls.end - NEARNESS_NS, ended, LONG_AGO)
    copied = _own_copy(material, calls)
    copied_end = np.where(copied, np.minimum(calls.own.last_end, calls.end), LONG_AGO)
    bound = np.where(calls.api == Api.MEMCPY_ASYNC, np.maximum(ended, copied_end), ended)
    scopes = calls.scopes.of_calls(long)
    reach = scopes.per_call(scopes.ask("reach_before", scopes.limit), calls.row.size)
    all_ended = (reach > calls.start) & (reach <= calls.end) & (reach >= calls.end - NEARNESS_NS)
    must = is_one_of(calls.api, _ALL_MUST_END)
    bound = np.where(must, np.where(all_ended, reach, LONG_AGO), bound)
    short_record = is_one_of(calls.api, _EVENT_CALLS) & (
        calls.end - calls.start <= RECORD_FLOORS * calls.floor
    )
    waited = long & (bound != LONG_AGO) & ~short_record
    return waited, bound


def lock_waits(calls: Calls, waited: Mask, bound: Ints) -> tuple[Mask, Ints]:
    """Event records and stream-waits that another thread's wait held up, and where its last op ended."""
    held = np.zeros(calls.row.size, np.bool_)
    released = np.full(calls.row.size, LONG_AGO, np.int64)
    asked = np.flatnonzero(is_one_of(calls.api, _EVENT_CALLS) & (calls.end - calls.start > calls.floor))
    others = np.flatnonzero(waited)
    if asked.size == 0 or others.size == 0:
        return held, released
    others = others[order(calls.end[others])]
    ends = calls.end[others]
    earliest = np.maximum(calls.end[asked] - NEARNESS_NS, calls.start[asked] + 1)
    which, at = spread(count_before(ends, earliest), count_until(ends, calls.end[asked]))
    mine, theirs = asked[which], others[at]
    blames = (
        (calls.start[theirs] < calls.start[mine])
        & (calls.thread[theirs] != calls.thread[mine])
        & (calls.owner[theirs] == calls.owner[mine])
    )
    held[mine[blames]] = True
    return held, largest_of_each(mine[blames], bound[theirs[blames]], held.size, initial=LONG_AGO)


def _last_ends(calls: Calls, until: Ints, asked: Mask) -> Ints:
    """Latest end, by `until`, of the ops of each call's scope that were outstanding at its start; LONG_AGO
    for calls that are not asked."""
    scopes = calls.scopes.of_calls(asked)
    pair = scopes.call
    ends = scopes.ask("last_end", scopes.limit, gather(calls.start, pair), gather(until, pair))
    return scopes.per_call(ends, calls.row.size)


def _own_copy(material: Material, calls: Calls) -> Mask:
    """Async copies whose own copy started inside the call and ended there, or ran long before the return."""
    trace, own = material.trace, calls.own
    inside = own.exists & (own.first_start >= calls.start) & (own.first_start < calls.end)
    ended = own.last_end <= calls.end
    ran_on = (calls.end - own.first_start > calls.floor) & ~ended
    on_device = gather(trace.copy_kind, calls.row) == CopyKind.DEVICE_TO_DEVICE
    recorded = gather(trace.copy_kind, gather(material.links.op, own.op)) == CopyKind.DEVICE_TO_DEVICE
    on_device[own.call[recorded]] = True
    free = is_pinned(material, calls) | (on_device & (trace.source.vendor == "nvidia"))
    return np.asarray((calls.api == Api.MEMCPY_ASYNC) & inside & (ended | ran_on) & ~free)


def is_pinned(material: Material, calls: Calls) -> Mask:
    """Copies that the file records as copies of pinned memory, at the call or at its copy."""
    memory = material.trace.memory
    pinned = np.asarray(gather(memory, calls.row) == Memory.PINNED)
    pinned[calls.own.call[gather(memory, gather(material.links.op, calls.own.op)) == Memory.PINNED]] = True
    return pinned


def is_sync(api: npt.NDArray[np.uint8]) -> Mask:
    """Synchronize calls: the always-waits that are not copies."""
    return is_one_of(api, _SYNCS)
