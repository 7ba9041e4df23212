"""Everything that costs device time, over all causes, the costliest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, Rows
from overlap_lab.intervals import Intervals, clip, shared_length, subtract, union
from overlap_lab.metrics.causes import CAUSES
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.dense import Spans, densest_stretch
from overlap_lab.metrics.idle import first_op, idle_segments
from overlap_lab.metrics.late import LateGaps, alike, late_gaps
from overlap_lab.metrics.places import names_around, names_of, relative_start_ns
from overlap_lab.metrics.recovery import recoveries, recovery_idle
from overlap_lab.metrics.tables import waits_inside
from overlap_lab.render.cost import Cost, Costs
from overlap_lab.render.costly_waits import CostlyWait, costly_waits
from overlap_lab.render.idle_rules import LANDMARKS, IdleFacts, advice_for_idle
from overlap_lab.render.numbers import Numbers
from overlap_lab.render.peer_waits import PeerWaits, advice_for_peers, peer_waits
from overlap_lab.render.rule_book import advice_for_wait
from overlap_lab.render.vendor_words import vendor_words
from overlap_lab.report import Report
from overlap_lab.schema import ABSENT_DEVICE, Cause, Kind

__all__ = ["Cost", "Costs", "costs_of"]

_SMALL_SHARE: Final = 0.01
"""Idle time without a wait below this share of all idle time is told as one sum."""
_SPREAD: Final = 0.05
"""Idle time of which the longest gap is less than this share is spread: one gap shows nothing of it."""
_STRETCH: Final = 0.02
"""Of a device's window so much is a stretch to look at."""
_GAPS: Final = 4
"""A stretch that has not room for so many of the longest gaps shows one gap only."""
_OUTSIDE: Final = "waits outside of the window"
_INSIDE: Final = "waits inside of other waits"


def costs_of(report: Report, context: Context | None) -> Costs:
    """The costs in order: device time, then time blocked; without a context late hosts stay one entry.

    The idle times sum to the idle time of all devices, where its causes are known.
    """
    numbers = Numbers(report)
    scopes = numbers.devices()
    by_cause = {
        cause: sum(numbers.count(f"device/idle/{cause}", scope) for scope in scopes) for cause in Cause
    }
    window = sum(numbers.count("device/window", scope) for scope in scopes)
    waits = costly_waits(report, context)
    final_ns = sum(one.final_ns for one in waits)
    are_known = any(by_cause.values())  # without host records nobody knows them
    others = _with_context(context) if context is not None and are_known else _bare(by_cause, waits)
    stretch_ns = round(_STRETCH * window / max(len(scopes), 1))
    recovered = {device: recoveries(context, device) for device in context.devices} if context else {}
    regaining = _relative(context, recovered)
    told = [_spread(_advised(cost, window, regaining), stretch_ns) for cost in others]
    found = sorted(
        (
            *(_of_wait(one) for one in waits if one.waits or one.idle_ns),
            *told,
            *_outside(context, by_cause, waits),
            *_of_peers(peer_waits(report, context)),
        ),
        key=lambda one: (-one.device_ns, -(one.wait.before_the_end_ns if one.wait else 0), one.cause or ""),
    )
    idle = sum(numbers.count("device/idle", scope) for scope in scopes)
    whole = tuple(_for_vendor(one, report.source.get("vendor")) for one in found)
    return Costs(whole, idle, window, len(scopes), final_ns, by_cause, _regaining(context, recovered))


def _for_vendor(cost: Cost, vendor: object) -> Cost:
    """With the names that the vendor of the trace's devices gives things."""
    if cost.advice is None:
        return cost
    return replace(cost, advice=replace(cost.advice, advice=vendor_words(cost.advice.advice, vendor)))


def _of_peers(peers: PeerWaits | None) -> Iterator[Cost]:
    if peers is not None:
        yield Cost(
            cause=None,
            idle_ns=0,
            advice=advice_for_peers(peers),
            gaps=0,
            longest_ns=peers.longest_ns,
            devices=peers.by_device,
            spot=peers.spot,
            title=peers.title,
            peers=peers,
        )


def _of_wait(wait: CostlyWait) -> Cost:
    return Cost(
        cause=Cause.DRAIN,
        idle_ns=wait.idle_ns,
        advice=advice_for_wait(wait) if wait.is_looked_up and wait.waits else None,
        gaps=wait.drains,
        longest_ns=wait.costliest_ns,
        devices=wait.devices,
        spot=(wait.start_ns, wait.end_ns),
        wait=wait,
    )


def _relative(context: Context | None, recovered: Mapping[int, Intervals]) -> dict[int, Intervals]:
    """When the host was regaining its lead on each device, after the trace's first record."""
    zero = relative_start_ns(context) if context else 0
    return {device: (start - zero, end - zero) for device, (start, end) in recovered.items()}


def _regaining(context: Context | None, recovered: Mapping[int, Intervals]) -> dict[Cause, int]:
    """Idle time in these recoveries by cause, over all devices."""
    if context is None:
        return {}
    found = [recovery_idle(context, device, mine) for device, mine in recovered.items()]
    return {cause: ns for cause in Cause if (ns := sum(one.get(cause, 0) for one in found))}


def _advised(cost: Cost, window_ns: int, regaining: Mapping[int, Intervals]) -> Cost:
    late = cost.late
    if cost.cause is None or (late is None and cost.cause is Cause.HOST_LATE):
        return cost  # what the host did is not known
    facts = IdleFacts(
        cost.cause,
        cost.idle_ns / window_ns if window_ns else 0.0,
        around=late.around if late else (),
        is_long=bool(late and late.is_long),
        line=late.line if late else None,
        follows_waits=2 * _shared(cost.spans, regaining) >= cost.idle_ns,
    )
    return replace(cost, advice=advice_for_idle(facts))


def _shared(spans: Mapping[int, Spans], regaining: Mapping[int, Intervals]) -> int:
    """How much of the idle spans lies where the host was regaining its lead."""
    return sum(shared_length(union(*mine), regaining[device]) for device, mine in spans.items())


def _spread(cost: Cost, stretch_ns: int) -> Cost:
    """With the stretch that shows it best, where it is spread over many gaps."""
    is_spread = cost.longest_ns < _SPREAD * cost.idle_ns and _GAPS * cost.longest_ns <= stretch_ns
    if not is_spread or not cost.spans:
        return cost
    most = max(cost.spans, key=lambda device: int((cost.spans[device][1] - cost.spans[device][0]).sum()))
    return replace(cost, stretch=densest_stretch(cost.spans[most], stretch_ns))


def _bare(by_cause: Mapping[Cause, int], waits: Sequence[CostlyWait]) -> Iterator[Cost]:
    """One cost for each cause, as the numbers say; what lies behind a wait is told with it."""
    undecided = max(sum(one.idle_ns for one in waits) - by_cause[Cause.DRAIN], 0)
    for cause, ns in by_cause.items():
        rest = ns - undecided if cause is Cause.UNKNOWN else ns
        if rest > 0 and cause is not Cause.DRAIN:
            yield Cost(cause, rest, None, 0, 0)


def _with_context(context: Context) -> Iterator[Cost]:
    yield from _late(context)
    for cause in Cause:
        if cause not in (Cause.DRAIN, Cause.HOST_LATE):
            yield from _of_cause(context, cause)


def _of_cause(context: Context, cause: Cause) -> Iterator[Cost]:
    """All idle time of one cause as one cost."""
    spans: dict[int, tuple[Ints, Ints]] = {}
    names: dict[str, int] = {}
    behind_waits = _behind_waits(context, have_row=True) if cause is Cause.UNKNOWN else {}
    for device in context.devices:
        segments = idle_segments(context, device)
        mine = segments.cause == CAUSES.index(cause)
        spans[device] = start, end = segments.start[mine], segments.end[mine]
        if cause is Cause.UNKNOWN:  # what lies behind a wait is told with it
            spans[device] = subtract((start, end), behind_waits[device])
        if cause in _NAMED:
            told = _NAMED[cause](context, device, segments.gap[mine])
            for name, ns in zip(told, (end - start).tolist(), strict=True):
                if name:
                    names[name] = names.get(name, 0) + ns
    yield from (replace(cost, names=_most_named(names)) for cost in _summed(context, cause, spans))


def _outside(
    context: Context | None, by_cause: Mapping[Cause, int], waits: Sequence[CostlyWait]
) -> Iterator[Cost]:
    """Idle time behind waits that have no row: they are outside of the window, or lie in another wait."""
    rest_ns = by_cause[Cause.DRAIN] - sum(one.idle_ns for one in waits)
    if rest_ns <= 0:
        return
    if context is None:
        yield Cost(Cause.DRAIN, rest_ns, None, 0, 0, title=_OUTSIDE)
        return
    title, spans = _INSIDE if context.window is None else _OUTSIDE, _behind_waits(context, have_row=False)
    yield from (replace(cost, title=title) for cost in _summed(context, Cause.DRAIN, spans))


def _behind_waits(context: Context, *, have_row: bool) -> dict[int, Spans]:
    """The idle spans behind waits that have a row, or that have none, by device; also of unknown cause."""
    has_row = np.zeros(context.waits.row.size, np.bool_)
    has_row[waits_inside(context)] = True
    spans = {}
    for device, drains in context.drains.items():
        start, end = clip(drains.start, drains.end, context.window)
        mine = (has_row[drains.wait] == have_row) & (end > start)
        spans[device] = start[mine], end[mine]
    return spans


def _summed(context: Context, cause: Cause, spans: Mapping[int, tuple[Ints, Ints]]) -> Iterator[Cost]:
    """The idle spans of each device as one cost, none where there are none."""
    devices: dict[int | None, int] = {}
    gaps, longest, spot = 0, 0, (0, 0)
    zero = relative_start_ns(context)
    for device, (start, end) in spans.items():
        if start.size == 0:
            continue
        lengths = end - start
        devices[None if device == ABSENT_DEVICE else device] = int(lengths.sum())
        gaps += lengths.size
        at = int(lengths.argmax())
        if lengths[at] > longest:
            longest = int(lengths[at])
            spot = (int(start[at]) - zero, int(end[at]) - zero)
    if gaps:
        yield Cost(
            cause,
            sum(devices.values()),
            None,
            gaps,
            longest,
            _most_first(devices),
            spot,
            spans={device: (start - zero, end - zero) for device, (start, end) in spans.items()},
        )


def _calls(context: Context, device: int, gap: Rows) -> list[str]:
    """The name of the call that launched the op behind each gap, empty where it has none."""
    caller = _callers(context, device, gap)
    names = names_of(context.trace, context.links.host[np.maximum(caller, 0)])
    return [name if call >= 0 else "" for name, call in zip(names, caller.tolist(), strict=True)]


def _ranges(context: Context, device: int, gap: Rows) -> list[str]:
    """The innermost range, else framework op, in which the op behind each gap was launched."""
    caller = _callers(context, device, gap)
    calls = context.links.host[np.maximum(caller, 0)]
    thread = context.links.host_thread[np.maximum(caller, 0)].astype(np.int64)
    found = [names_around(context, thread, calls, kind) for kind in (Kind.RANGE, Kind.CPU_OP)]
    named = zip(*found, caller.tolist(), strict=True)
    return [(range_ or op or "") if call >= 0 else "" for range_, op, call in named]


def _callers(context: Context, device: int, gap: Rows) -> Rows:
    """The call that launched the op behind each gap, negative where it has none.

    -1 is the time before the device's first op, which a window may begin in.
    """
    op = np.full(gap.size, first_op(context, device)[0])
    inside = gap >= 0
    op[inside] = context.devices[device].next_op[gap[inside]]
    return np.asarray(context.links.caller[op])


_NAMED: Final = {Cause.IN_CALL: _calls, Cause.HOST_FUNCTION: _ranges}
"""Causes whose gaps have a name each."""


def _late(context: Context) -> Iterator[Cost]:
    """Late launches by what the host did: landmarks and long gaps by name, all short gaps as one."""
    groups: dict[tuple[str | None, bool], list[LateGaps]] = {}
    for one in sorted(late_gaps(context, LANDMARKS), key=lambda one: -one.idle_ns):
        name = alike(one.name) if one.name is not None else None
        groups.setdefault((name if one.is_long else None, one.is_long), []).append(one)
    whole = sum(one.idle_ns for group in groups.values() for one in group)
    small: list[LateGaps] = []
    for group in groups.values():
        if sum(one.idle_ns for one in group) < _SMALL_SHARE * whole and group[0].is_long:
            small += group
        else:
            yield _late_cost(group)
    if small:
        yield _late_cost(sorted(small, key=lambda one: -one.idle_ns))


def _late_cost(group: Sequence[LateGaps]) -> Cost:
    devices: dict[int | None, int] = {}
    names: dict[str, int] = {}
    by_device: dict[int, list[LateGaps]] = {}
    for one in group:
        by_device.setdefault(ABSENT_DEVICE if one.device is None else one.device, []).append(one)
        devices[one.device] = devices.get(one.device, 0) + one.idle_ns
        if one.name is not None:
            names[one.name] = names.get(one.name, 0) + one.covered_ns
    longest = max(group, key=lambda one: one.end_ns - one.start_ns)
    return Cost(
        cause=Cause.HOST_LATE,
        idle_ns=sum(devices.values()),
        advice=None,
        gaps=sum(one.gaps for one in group),
        longest_ns=longest.end_ns - longest.start_ns,
        devices=_most_first(devices),
        spot=(longest.start_ns, longest.end_ns),
        late=group[0],
        names=_most_named(names),
        spans={device: _joined([one.spans for one in mine]) for device, mine in by_device.items()},
    )


def _joined(spans: Sequence[Spans]) -> Spans:
    start, end = (np.concatenate(column) for column in zip(*spans, strict=True))
    return start, end


def _most_named(names: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(names.items(), key=lambda pair: -pair[1]))


def _most_first(devices: Mapping[int | None, int]) -> tuple[tuple[int | None, int], ...]:
    pairs: Iterable[tuple[int | None, int]] = devices.items()
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))
