"""How far the device clock may be off from the host's, and what that leaves uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlap_lab.columns import Ints, is_one_of
from overlap_lab.metrics.causes import CAUSES, Segments
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.evidence import calls_of
from overlap_lab.metrics.opset import LONG_AGO
from overlap_lab.schema import Api, CopyKind

__all__ = ["Shift", "allowed_shifts", "undecided_gaps"]


@dataclass(frozen=True, slots=True)
class Shift:
    """ns to add to a device's times: from `low` on no op starts before its enqueue call; beyond `high` an op
    would end after the wait that proved it complete. `high` is None where no wait proves anything."""

    low: int
    high: int | None

    @property
    def consistent(self) -> bool:
        """Whether one shift can satisfy both sides."""
        return self.high is None or self.low <= self.high


def allowed_shifts(context: Context) -> dict[int, Shift]:
    """The allowed shift of each device on which an op starts before its enqueue call."""
    ops = context.ops
    lead = ops.start - ops.enqueue
    early = np.flatnonzero(context.links.linked & (lead < 0))
    inverted = np.unique(ops.device(early)).tolist()
    if not any(device in context.devices for device in inverted):
        return {}
    device, spare = _proofs(context)
    result = {}
    for number in inverted:
        if number in context.devices:
            mine = early[ops.device(early) == number]
            room = spare[device == number]
            high = int(room.min()) if room.size else None
            result[number] = Shift(int(-lead[mine].min()), high)
    return result


def _proofs(context: Context) -> tuple[Ints, Ints]:
    """Device of each proof and the ns between the proven end and the return of the wait that proves it."""
    calls = calls_of(context)
    scopes = calls.scopes
    api = calls.api[scopes.call]
    whole = np.array([key[2] is None for key in scopes.keys], np.bool_)[scopes.set_id]
    complete = np.where(
        whole,
        is_one_of(api, (Api.DEVICE_SYNC, Api.CONTEXT_SYNC)) & scopes.one_device,
        is_one_of(api, (Api.STREAM_SYNC, Api.EVENT_SYNC)) & ~scopes.from_null & scopes.one_device,
    )
    proven = scopes.where(complete)
    reach = proven.ask("reach_before", proven.limit)
    known = reach != LONG_AGO
    spare = (calls.end[proven.call] - reach)[known]
    copies, op = calls.own.call, calls.own.op
    kind = context.trace.copy_kind[context.links.op[op]]
    read = (calls.api[copies] == Api.MEMCPY) & (kind == CopyKind.DEVICE_TO_HOST)
    read_spare = calls.end[copies[read]] - context.ops.end[op[read]]
    return np.r_[proven.device()[known], context.ops.device(op[read])], np.r_[spare, read_spare]


def undecided_gaps(low: Context, high: Context, shifts: Mapping[int, Shift]) -> dict[int, Ints]:
    """Gaps, per shifted device, that get other causes at the two ends of the allowed interval, or where no
    shift is allowed at all."""
    result = {}
    for device, shift in shifts.items():
        size = low.devices[device].gap_start.size
        if not shift.consistent:
            result[device] = np.arange(size)
            continue
        differs = _causes_by_gap(low.idle[device], size) != _causes_by_gap(high.idle[device], size)
        result[device] = np.flatnonzero(differs)
    return result


def _causes_by_gap(segments: Segments, size: int) -> Ints:
    """Per gap the set of its causes, as bits."""
    bits = np.zeros(size, np.int64)
    np.bitwise_or.at(bits, segments.gap, np.int64(1) << segments.cause)
    return bits & ((1 << len(CAUSES)) - 1)
