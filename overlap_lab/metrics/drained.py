"""Waits that returned on an empty device or stream, and what the idle gap behind them is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, count_until, distinct, gather, order
from overlap_lab.metrics.ops import Groups, Lane, Ops, grouped, lane_of
from overlap_lab.metrics.opset import LONG_AGO
from overlap_lab.metrics.scopes import Feeds
from overlap_lab.metrics.settings import SLACK_NS
from overlap_lab.metrics.waits import Waits
from overlap_lab.schema import ABSENT

__all__ = ["Drains", "drains_of", "stream_drains_of", "waited_devices"]


@dataclass(frozen=True, slots=True, eq=False)
class Drains:
    """Drains of one device or stream; entry i of the arrays up to `wait` is drained gap i, in time order."""

    gap: Ints
    """Index of the gap in the lane."""
    start: Ints
    """End of the last op before the drain."""
    returned: Ints
    """Return of the wait, within the gap: `return` ends and `refill` begins."""
    enqueued: Ints
    """Start of the next op's enqueue call, within the gap: `refill` ends and `launch` begins."""
    end: Ints
    """Start of the next op."""
    wait: Ints
    """The wait that returned last."""
    terminal_waits: Ints
    """Waits that returned on an empty device and had no later op."""
    ops: int
    """How many ops ran on the lane."""


def drains_of(ops: Ops, feeds: Feeds, devices: Mapping[int, Lane], waits: Waits) -> dict[int, Drains]:
    """The drains of each device, by its feeding threads' waits for one of its ops."""
    wait, waited_for = waited_devices(ops, waits)
    of_device = Groups.of_codes(waited_for)
    result = {}
    for device, lane in devices.items():
        candidates = wait[of_device.of((device,))]
        fed = np.isin(waits.thread[candidates], feeds.threads(device))
        result[device] = _drains(ops, lane, waits, candidates[fed])
    return result


def waited_devices(ops: Ops, waits: Waits) -> tuple[Ints, Ints]:
    """Distinct pairs (wait, device that it waited for an op of), by wait."""
    pair = waits.scopes.call
    until = waits.end + np.where(waits.explicit, SLACK_NS, 0)
    ended = waits.scopes.ask("last_end", waits.scopes.limit, waits.start[pair], until[pair]) != LONG_AGO
    wait = np.r_[pair[ended], waits.own_call]
    device = np.r_[waits.scopes.device()[ended], ops.device(waits.own_op)]
    pairs = distinct(wait, device)
    return wait[pairs], device[pairs]


def stream_drains_of(
    ops: Ops, feeds: Feeds, devices: Mapping[int, Lane], waits: Waits
) -> dict[tuple[int, int], tuple[Drains, ...]]:
    """The drains of each (device, stream), one entry for each process that uses such a stream."""
    touched = _touched_streams(ops, waits)
    result: dict[tuple[int, int], tuple[Drains, ...]] = {}
    for (owner, device, stream), members in sorted(ops.index.items()):
        if stream == ABSENT:
            continue
        candidates = touched.get((owner, device, stream), np.zeros(0, np.int64))
        fed = candidates[np.isin(waits.thread[candidates], feeds.threads(device))]
        lane = devices.get(device) if members.size == ops.start.size else None
        drains = _drains(ops, lane or lane_of(ops, members), waits, fed) if fed.size else _none(members.size)
        result[(device, stream)] = (*result.get((device, stream), ()), drains)
    return result


def _none(ops: int) -> Drains:
    """No drains of a lane of so many ops, which then need not be looked at."""
    no = np.zeros(0, np.int64)
    return Drains(no, no, no, no, no, no, no, ops)


def _drains(ops: Ops, lane: Lane, waits: Waits, candidates: Ints) -> Drains:
    """Which of the candidate waits left the lane empty, merged by the gap that followed."""
    returns = waits.end[candidates]
    reach = lane.ops.reach_before(returns)
    empty = reach <= returns + SLACK_NS
    later = lane.ops.has_later(returns)
    gap = count_until(lane.gap_start, reach) - 1
    at = np.maximum(gap, 0)
    inside = (gap >= 0) & (lane.gap_end.size > 0)
    if lane.gap_end.size:
        inside &= reach < lane.gap_end[at]
    drained = np.flatnonzero(empty & later & inside)
    by_gap = drained[order(gap[drained], returns[drained], candidates[drained])]
    last = np.r_[gap[by_gap][1:] != gap[by_gap][:-1], True] if by_gap.size else np.zeros(0, np.bool_)
    chosen = by_gap[last]
    number = gap[chosen]
    start, end = lane.gap_start[number], lane.gap_end[number]
    returned = np.clip(returns[chosen], start, end)
    enqueued = np.clip(ops.enqueue[lane.next_op[number]], returned, end)
    return Drains(
        number,
        start,
        returned,
        enqueued,
        end,
        candidates[chosen],
        candidates[empty & ~later],
        lane.index.size,
    )


def _touched_streams(ops: Ops, waits: Waits) -> dict[tuple[int, int, int], Ints]:
    """(owner, device, stream) -> waits with an op of it outstanding at their start, or their own op on it."""
    scopes = waits.scopes
    until = waits.end[scopes.call] + SLACK_NS
    links = ops.links
    found = [(waits.own_call, gather(links.place, waits.own_op))]
    for set_id, mine in scopes.by_set():
        among, call = scopes.sets[set_id], scopes.call[mine]
        asked = (
            count_until(among.end, waits.start[call]),
            count_until(among.end, until[mine]),
            scopes.limit[mine],
        )
        query, place = native.touched_places(
            among.end_enqueue, among.by_end, links.place, asked, links.places.part.size
        )
        found.append((call[query], place))
    wait, place = (np.concatenate(column) for column in zip(*found, strict=True))
    result: dict[tuple[int, int, int], Ints] = {}
    for members in grouped(place):
        one, places = int(place[members[0]]), links.places
        key = (int(ops.place_owner[one]), int(places.device[one]), int(places.stream[one]))
        touching = wait[members]
        result[key] = touching[distinct(touching)]
    return result
