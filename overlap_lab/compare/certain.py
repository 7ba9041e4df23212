"""Which waits are certain, and which may be a host thread that got no core at a bad moment.

A call that waits by its name waited. A call that only may wait is told by times: it lasted, and what it
could have waited for ended just before it returned. A thread that was kept from its core looks the same by
accident, and so a short wait of this kind must not break a budget by itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from overlap_lab.columns import Ints, Mask, gather
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.places import around_waits
from overlap_lab.metrics.settings import FLOOR_NS, NEARNESS_NS
from overlap_lab.schema import Api, CopyKind, Kind, Memory
from overlap_lab.units import format_ns

__all__ = ["LONE_FLOORS", "REPEATED_FLOORS", "chance_words", "that_drained", "unsure_waits"]

LONE_FLOORS: Final = 20
"""An end falls by accident into the last 20 us of a call that lasts so many floors once in twenty times."""
REPEATED_FLOORS: Final = 5
"""So long are two calls that an end falls into the last 20 us of both once in twenty-five times."""


def unsure_waits(context: Context, *, drained: bool) -> Ints:
    """Waits that a busy machine may be all there is to; with `drained` also such that are certain themselves,
    while their drain is not."""
    unsure = ~_certain_waits(context)
    while drained:
        left = np.flatnonzero(~unsure)
        passing = _drained_in_passing(context.with_waits(~unsure))
        if not passing.any():
            break
        unsure[left[passing]] = True  # another wait in the same gap may now be the last one
    return np.flatnonzero(unsure)


def that_drained(context: Context, wait: Ints) -> Ints:
    """Those of the waits that drained a device or a stream."""
    streams = (each for lanes in context.stream_drains.values() for each in lanes)
    return np.intersect1d(wait, np.concatenate([each.wait for each in (*context.drains.values(), *streams)]))


def chance_words(context: Context, unsure: Ints) -> str:
    """These waits by call, with how long they lasted or how late they came back."""
    waits, certain = context.waits, _certain_waits(context)
    groups: dict[tuple[str, bool], list[int]] = {}
    for wait in unsure.tolist():
        name = context.trace.name_of(int(waits.row[wait]))
        groups.setdefault((name, bool(certain[wait])), []).append(wait)
    words = []
    for (name, is_late), members in groups.items():
        longest = (waits.end - (waits.bound_end if is_late else waits.start))[members].max()
        times, at_most = ("", "") if len(members) == 1 else (f"{len(members)} x ", "up to ")
        took = f"{at_most}{format_ns(int(longest))}"
        words.append(f"{times}{name} " + (f"came back {took} late" if is_late else f"lasted {took}"))
    return ", ".join(words)


def _certain_waits(context: Context) -> Mask:
    """Per wait whether it waited for certain: by its call's name, or by evidence that is no accident."""
    waits = context.waits
    certain = (waits.explicit & ~_within_device(context)) | _read_back(context)
    if bool(certain.all()):
        return certain
    if context.trace.source.vendor == "host":
        # The ops of this target run on the host's own cores: a thread that wants one gets it when an op ends,
        # however long that takes. But the capture keeps the stack of just those calls that waited.
        told = np.array([frame is not None for frame in around_waits(context, Kind.PYTHON)])
        return np.asarray(certain | told)
    return certain | _no_accident(context, np.flatnonzero(~certain))


def _drained_in_passing(context: Context) -> Mask:
    """Waits that drained a device only because the host came back late: when what they waited for ended,
    there was more work left than a host takes that is not late."""
    waits = context.waits
    found = np.zeros(waits.row.size, np.bool_)
    late = waits.end - waits.bound_end > NEARNESS_NS
    for drains in context.drains.values():
        found[drains.wait[drains.start > waits.bound_end[drains.wait] + NEARNESS_NS]] = True
    return np.asarray(found & late)


def _within_device(context: Context) -> Mask:
    """Copies from device to device, by the call's record or by that of its copy: they may not wait at all."""
    trace, waits = context.trace, context.waits
    found = np.asarray(gather(trace.copy_kind, waits.row) == CopyKind.DEVICE_TO_DEVICE)
    own = gather(trace.copy_kind, gather(context.links.op, waits.own_op)) == CopyKind.DEVICE_TO_DEVICE
    found[waits.own_call[own]] = True
    return found


def _read_back(context: Context) -> Mask:
    """Copies to pageable memory of the host that began and ended inside their call."""
    trace, waits = context.trace, context.waits
    row = gather(context.links.op, waits.own_op)
    inside = (trace.start_ns[row] >= waits.start[waits.own_call]) & (
        trace.end_ns[row] <= waits.end[waits.own_call]
    )
    back = gather(trace.copy_kind, row) == CopyKind.DEVICE_TO_HOST
    pageable = gather(trace.memory, row) == Memory.PAGEABLE
    found = np.zeros(waits.row.size, np.bool_)
    found[waits.own_call[inside & back & pageable]] = True
    return np.asarray(found & (gather(trace.api, waits.row) == Api.MEMCPY_ASYNC))


def _no_accident(context: Context, asked: Ints) -> Mask:
    """Of these waits the ones that lasted too long, or too long too often, for an accident.

    Of the calls of that name that lasted so long, made while a device had work, three quarters must have
    waited.
    """
    trace, waits = context.trace, context.waits
    certain = np.zeros(waits.row.size, np.bool_)
    lasted, name = waits.end - waits.start, gather(trace.name, waits.row)
    for code in np.unique(name[asked]).tolist():
        mine = asked[name[asked] == code]
        floor = waits.floors.get(trace.names[code] if code >= 0 else "", FLOOR_NS)
        for floors, fewest in ((LONE_FLOORS, 1), (REPEATED_FLOORS, 2)):
            long = mine[lasted[mine] >= floors * floor]
            if long.size >= fewest and 4 * long.size >= 3 * _long_calls(context, code, floors * floor):
                certain[long] = True
    return certain


def _long_calls(context: Context, name: int, least_ns: int) -> int:
    """How many calls of a name lasted so long and were made while a device had work."""
    trace, host = context.trace, context.links.host
    rows = host[gather(trace.name, host) == name]
    rows = rows[trace.end_ns[rows] - trace.start_ns[rows] >= least_ns]
    start = trace.start_ns[rows]
    busy = np.zeros(rows.size, np.bool_)
    for lane in context.devices.values():
        busy |= lane.ops.reach_before(start) > start
    return int(busy.sum())
