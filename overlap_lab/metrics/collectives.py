"""Time in collectives, how much of it no other op covers, and how long devices wait in them for the last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, Mask, dense_codes, gather, sum_of_each
from overlap_lab.intervals import (
    Intervals,
    clip,
    covered_ns,
    length,
    subtract,
    union,
)
from overlap_lab.metrics.collective_groups import Members, ends_agree, groups_of, last_of_each
from overlap_lab.metrics.collective_names import collective_codes, may_be_collectives
from overlap_lab.metrics.context import Context, Window
from overlap_lab.metrics.ops import Groups
from overlap_lab.schema import EARLIEST_NS, LATEST_NS, LONGEST_NS, Kind

__all__ = [
    "NO_COLLECTIVES",
    "Collectives",
    "collective_values",
    "collectives_of",
    "waits_for",
]

NO_COLLECTIVES: Final = "no device operation is a collective by its name"
_ALONE: Final = "no other device of the trace runs collectives"
_APART: Final = "its collectives end with no other device's: another clock, or another group of devices"
_NEEDS_OTHERS: Final = (
    "collectives/last",
    "collectives/waited",
    "collectives/waited/exposed",
    "collectives/awaited",
)

Values = dict[str, int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Collectives:
    """Collective ops in order of their starts, with who waited for whom in which part of them."""

    op: Ints
    """The ops among all ops of the trace."""
    device: Ints
    of_device: Groups
    """The ops of this table by device."""
    start: Ints
    end: Ints
    group: Ints
    """The collective that it took part in; -1 where no other device's op is known to be of it."""
    last: Ints
    """The op of its collective that started last, maybe itself."""
    wait_start: Ints
    wait_end: Ints
    """When it waited for that op, without what another op of the device waited through already."""
    others: Mapping[int, Intervals]
    """Per device with collectives when its other ops ran."""
    values: dict[Window | None, dict[int, tuple[Values, str]]] = field(default_factory=dict)
    """What `collective_values` gave, by window."""

    @property
    def is_last(self) -> Mask:
        """Whether each is the one of its collective that started last."""
        return np.asarray((self.group >= 0) & (self.last == np.arange(self.op.size)))


def collectives_of(context: Context) -> Collectives | None:
    """The collectives of a trace, found once; None where no op is one."""
    if not context.collectives:
        context.collectives.append(_found(context))
    return context.collectives[0]


def _found(context: Context) -> Collectives | None:
    trace, links = context.trace, context.links
    if not may_be_collectives(trace.names):
        return None
    used = np.zeros(len(trace.names) + 1, np.bool_)
    name = gather(trace.name, links.op)
    used[name] = True  # the last place is that of ops without a name
    codes = collective_codes(trace.names, np.flatnonzero(used[:-1]).tolist())
    if not codes:
        return None
    is_collective = np.zeros(used.size, np.bool_)
    is_collective[codes] = True
    mine = is_collective[name]
    op = np.flatnonzero(mine & (gather(trace.kind, links.op) == Kind.KERNEL))
    op = op[np.isin(context.ops.device(op), list(context.devices))]
    return _waits_of(context, op[np.argsort(context.ops.start[op], kind="stable")], name) if op.size else None


def _waits_of(context: Context, op: Ints, name: Ints) -> Collectives:
    places, ops = context.links.places, context.ops
    place = gather(context.links.place, op).astype(np.int64)
    member = dense_codes(places.part, places.process, places.device)[place]
    members = Members(name[op].astype(np.int64), member, place, ops.start[op], ops.end[op])
    group = groups_of(members)
    last = last_of_each(members, group)
    waits = ends_agree(members, members.where(last)) & (last != np.arange(op.size))
    until = np.where(waits, members.start[last], members.start)
    until = np.clip(until, members.start, np.maximum(members.end, members.start))
    device = places.device[place].astype(np.int64)
    of_device = Groups.of_codes(device)
    since = members.start.copy()
    for mine in of_device.positions.values():
        reached = np.maximum.accumulate(until[mine])[:-1]
        since[mine[1:]] = np.maximum(since[mine[1:]], reached)
    since = np.minimum(since, until)
    others = _others(context, op, of_device)
    return Collectives(op, device, of_device, members.start, members.end, group, last, since, until, others)


def collective_values(context: Context) -> dict[int, tuple[Values, str]]:
    """Per device `collectives/*` values inside the window, and why those that are not known are not.

    Empty where no op is a collective.
    """
    found = collectives_of(context)
    if found is None:
        return {}
    if context.window not in found.values:
        found.values[context.window] = _values(context, found)
    return found.values[context.window]


def _values(context: Context, found: Collectives) -> dict[int, tuple[Values, str]]:
    exposed = _exposed_waits(context, found)
    inside = _inside(context, found.start, found.end)
    matched, is_last = inside & (found.group >= 0), inside & found.is_last
    start, end = clip(found.wait_start, found.wait_end, context.window)
    awaited = dict(zip(*_sums(found.device[found.last], exposed), strict=True))
    why = _ALONE if len(found.of_device.positions) == 1 else _APART
    result: dict[int, tuple[Values, str]] = {}
    for device in context.devices:
        mine = found.of_device.of([device])
        values: Values = {
            "collectives/count": int(inside[mine].sum()),
            **_time(context, found, mine, found.others.get(device)),
            "collectives/matched": int(matched[mine].sum()),
            "collectives/last": int(is_last[mine].sum()),
            "collectives/waited": int((end - start)[mine].sum()),
            "collectives/waited/exposed": int(exposed[mine].sum()),
            "collectives/awaited": awaited.get(device, 0),
        }
        if mine.size and not (found.group[mine] >= 0).any():
            values |= dict.fromkeys(_NEEDS_OTHERS, None)
        result[device] = values, why
    return result


def _sums(group: Ints, value: Ints) -> tuple[list[int], list[int]]:
    """The groups, and the sum of the values of each."""
    numbers, code = np.unique(group, return_inverse=True)
    return numbers.tolist(), sum_of_each(code, value, numbers.size).tolist()


def _time(context: Context, found: Collectives, mine: Ints, others: Intervals | None) -> Values:
    whole = union(*clip(found.start[mine], found.end[mine], context.window))
    exposed = whole if others is None else subtract(whole, others)
    return {"collectives/time": length(whole), "collectives/exposed": length(exposed)}


def _exposed_waits(context: Context, found: Collectives) -> Ints:
    """Per collective op how long it waited inside the window with no other op of its device beside it."""
    start, end = clip(found.wait_start, found.wait_end, context.window)
    exposed = end - start
    for device, mine in found.of_device.positions.items():
        exposed[mine] -= covered_ns(found.others[device], start[mine], end[mine])
    return exposed


def waits_for(context: Context, found: Collectives, device: int | None) -> Ints:
    """Per collective op how long it waited for one device, or for any, with no other op beside it."""
    exposed = _exposed_waits(context, found)
    if device is not None:
        exposed[found.device[found.last] != device] = 0
    return exposed


def _others(context: Context, op: Ints, of_device: Groups) -> dict[int, Intervals]:
    """Per device with collectives when its other ops ran."""
    is_other = np.ones(context.ops.start.size, np.bool_)
    is_other[op] = False
    result = {}
    for device in of_device.positions:
        index = context.devices[device].index
        index = index[is_other[index]]
        result[device] = union(context.ops.start[index], context.ops.end[index])
    return result


def _inside(context: Context, start: Ints, end: Ints) -> Mask:
    """Per op whether some part of it lies in the window."""
    first, last = context.window or (EARLIEST_NS, LATEST_NS + LONGEST_NS)
    return np.asarray((start < last) & ((end > first) | ((start == end) & (start >= first))))
