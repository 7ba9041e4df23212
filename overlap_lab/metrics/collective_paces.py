"""How fast each device and its host are by themselves, from the first to the last collective that all share.

A device that waits in collectives is as late as the last one to start; what it would need alone is hidden in
its waits. No run is quicker than its slowest host that only hands out work, nor than its slowest device that
only works: that bounds what is gained where one of them becomes faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, distinct, sum_of_each
from overlap_lab.intervals import clip, intersect, length, subtract, union
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.collectives import Collectives, collective_values, collectives_of
from overlap_lab.metrics.context import Context, Window
from overlap_lab.schema import EARLIEST_NS, LATEST_NS, LONGEST_NS, Cause

__all__ = ["NO_SHARED", "Pace", "collective_measures", "paces_of"]

_TAGS: Final = ("collectives/span", "collectives/launching", "collectives/work", "collectives/gain")
NO_SHARED: Final = "no two collectives that all devices with collectives share and whose launches are known"
_OWN: Final = tuple(CAUSES.index(cause) for cause in (Cause.DEPENDENCY, Cause.HOST_FUNCTION))
"""Idle time that a device has also where its work comes early enough."""
_FAMILY: Final = "paces"
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Pace:
    """What one device took from its first to its last shared collective, and what it needs by itself."""

    span: int
    """Between the launches or between the starts of both, whichever is longer."""
    launching: int
    """Between their launches, without the time that a thread which feeds the device was blocked."""
    work: int
    """Between their starts busy without waiting for others, or idle between ops that were queued."""
    waited_for: dict[int, int]
    """How long it waited for each other device in between, whatever else it did."""

    @property
    def least(self) -> int:
        """It cannot be faster than that as host and device are now."""
        return max(self.launching, self.work)


def collective_measures(context: Context) -> dict[int, dict[str, tuple[int | float | None, str]]]:
    """Per device every `collectives/*` value, and why it is not known where it is not."""
    result = {}
    for device, (values, why) in collective_values(context).items():
        mine: dict[str, tuple[int | float | None, str]] = {}
        mine |= {tag: (value, why) for tag, value in values.items()}
        unknown = NO_SHARED if values["collectives/last"] is not None else why
        found = _values(context, device)
        result[device] = mine | {tag: (found.get(tag), unknown) for tag in _TAGS}
    return result


def _values(context: Context, device: int) -> dict[str, int | float | None]:
    """Those of one device; empty where they are not known. All are found at once, and kept."""
    if (_FAMILY, device, context.window) not in context.values:
        paces = paces_of(context)
        gains = _gains(paces)
        for each in context.devices:
            one = paces.get(each)
            found = () if one is None else (one.span, one.launching, one.work, gains[each])
            context.values[_FAMILY, each, context.window] = dict(zip(_TAGS, found, strict=False))
    return context.values[_FAMILY, device, context.window]


def _gains(paces: dict[int, Pace]) -> dict[int, int]:
    """How much sooner all would be done at most were each device as fast as the next slowest, or faster."""
    slowest = sorted((one.least for one in paces.values()), reverse=True)[:2]
    waits: dict[int, list[int]] = {device: [] for device in paces}
    for device, one in paces.items():
        for whom in one.waited_for.keys() & paces.keys() - {device}:
            waits[whom].append(one.waited_for[whom])
    gains = {}
    for device, one in paces.items():
        next_slowest = slowest[one.least == slowest[0]]
        all_waited = len(waits[device]) == len(paces) - 1
        gains[device] = max(min(one.span - next_slowest, min(waits[device]) if all_waited else 0), 0)
    return gains


def paces_of(context: Context) -> dict[int, Pace]:
    """By device; empty where fewer than two devices share two collectives with known launches."""
    found = collectives_of(context)
    if found is None:
        return {}
    first, last = _ends(context, found)
    whole = context.within(None)
    return {
        int(found.device[one]): _pace(whole, found, int(one), int(other))
        for one, other in zip(first, last, strict=True)
    }


def _ends(context: Context, found: Collectives) -> tuple[Ints, Ints]:
    """The ops of the first and of the last collective that every device shares, in order of devices."""
    low, high = context.window or (EARLIEST_NS, LATEST_NS + LONGEST_NS)
    grouped = found.group >= 0
    devices = np.unique(found.device[grouped]).size
    known = grouped & (found.start >= low) & (found.start < high) & context.links.linked[found.op]
    group, device = found.group[known], found.device[known]
    once = np.bincount(group, minlength=1) == devices
    of_each = np.bincount(group[distinct(group, device)], minlength=1) == devices
    shared = np.flatnonzero(once & of_each)
    if devices < _LEAST or shared.size < _LEAST:
        none = np.zeros(0, np.int64)
        return none, none
    mine = found.group[known & np.isin(found.group, shared)][::-1]  # from the one that started last on
    complete = mine[np.sort(np.unique(mine, return_index=True)[1])]
    by_device = [np.flatnonzero(known & (found.group == one)) for one in complete[[-1, 0]]]
    first, last = (ops[np.argsort(found.device[ops])] for ops in by_device)
    return first, last


def _pace(context: Context, found: Collectives, first: int, last: int) -> Pace:
    device = int(found.device[first])
    launches = _between(context.ops.enqueue[found.op[[first, last]]])
    starts = _between(found.start[[first, last]])
    blocked = context.blocked(device, terminal=True)
    return Pace(
        span=max(_length(launches), _length(starts)),
        launching=_length(launches) - length(union(*clip(*blocked, launches))),
        work=_work(context, found, device, starts),
        waited_for=_waited_for(found, device, starts),
    )


def _between(ends: Ints) -> Window:
    one, other = sorted(ends.tolist())
    return one, other


def _length(window: Window) -> int:
    return window[1] - window[0]


def _work(context: Context, found: Collectives, device: int, window: Window) -> int:
    mine = found.of_device.of([device])
    waits = union(found.wait_start[mine], found.wait_end[mine])
    busy = subtract(context.busy(device), subtract(waits, found.others[device]))
    idle = context.idle[device]
    own = np.isin(idle.cause, _OWN)
    queued = union(idle.start[own], idle.end[own])
    inside = np.array([window[0]]), np.array([window[1]])
    return length(intersect(busy, inside)) + length(intersect(queued, inside))


def _waited_for(found: Collectives, device: int, window: Window) -> dict[int, int]:
    mine = found.of_device.of([device])
    start, end = clip(found.wait_start[mine], found.wait_end[mine], window)
    whom = found.device[found.last[mine]]
    devices, code = np.unique(whom, return_inverse=True)
    sums = sum_of_each(code, end - start, devices.size)
    return {one: ns for one, ns in zip(devices.tolist(), sums.tolist(), strict=True) if ns and one != device}
