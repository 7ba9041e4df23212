"""Sentences that a person acts on; the first is the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from overlap_lab.metrics.blocking import threads_by_tag
from overlap_lab.metrics.clock import Shift
from overlap_lab.metrics.collective_findings import collective_findings, waits_first
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.drains import device_drains
from overlap_lab.metrics.idle import device_idle
from overlap_lab.quality import Quality
from overlap_lab.report import Cell, ColumnRows, Finding, Scope, Severity, Table
from overlap_lab.schema import ABSENT_DEVICE, Cause, Fault
from overlap_lab.units import format_ns

__all__ = ["findings_of"]

_UNLINKED_SHARE = 0.05
_ONLY_CPU = (
    "no device records and no calls that could wait for a device, only what ran on the CPU, as "
    "torch.profiler records where torch has no device: capture it on a machine with a GPU"
)
_NOTABLE_HOST_FUNCTION_SHARE = 0.01
_NOTABLE_IDLE_SHARE = 0.05
"""Share of the window from which on idle time that no wait caused stands before what waits cost."""
_BECAUSE = {
    Cause.HOST_LATE: "the host launched late",
    Cause.LAUNCH: "launches were on their way",
    Cause.IN_CALL: "launch calls were busy with something else",
    Cause.HOST_FUNCTION: "streams stood behind host functions",
    Cause.DEPENDENCY: "queued work was not started",
}
_OF_A_WAIT = ("call", "reason", "terminal", "blocked")


def findings_of(
    context: Context, faults: Quality, tables: Mapping[str, Table], shifts: Mapping[int, Shift]
) -> tuple[Finding, ...]:
    """The verdict first, then what else deserves a look, errors before warnings before remarks."""
    collectives = list(collective_findings(context, tables))
    verdict = _costliest_first(context, _verdict(context, tables))
    verdict = waits_first(context, verdict, collectives)
    rest = [
        *_clocks(faults, shifts),
        *_quality(context, faults),
        *_longest(verdict, tables["calls_by_cause"]),
        *_devices(context),
        *collectives,
        *_host(context),
    ]
    order = list(Severity)
    rest.sort(key=lambda finding: order.index(finding.severity))
    return (verdict, *rest)


def _verdict(context: Context, tables: Mapping[str, Table]) -> Finding:
    if context.links.host.size == 0 and not context.devices and len(context.trace):
        return Finding("verdict", Severity.INFO, _ONLY_CPU)
    if context.links.host.size == 0:
        return Finding("verdict", Severity.INFO, "no host records: what blocks the host cannot be told")
    if not context.devices:
        return Finding("verdict", Severity.INFO, "no device records: what the host waited for cannot be told")
    rows = [_named(tables["calls_by_cause"], index) for index in range(len(tables["calls_by_cause"].rows))]
    drains = sum(int(row["drains"] or 0) for row in rows)
    if not rows:
        return Finding("verdict", Severity.INFO, "nothing blocks: no call waited for the device")
    if drains == 0 and _only_terminal(tables["waits"]):
        blocked = sum(int(row["blocked"] or 0) for row in rows)
        return Finding(
            "verdict",
            Severity.INFO,
            f"nothing blocks: the host waits only at the end ({format_ns(blocked)}) and drains no device",
            evidence={"blocked_ns": blocked, "drains": 0},
        )
    return _worst(context, rows, tables["waits"])


def _costliest_first(context: Context, verdict: Finding) -> Finding:
    """The verdict, after the cause that cost the devices most where that is not the waits it tells of."""
    if context.links.host.size == 0 or not context.devices:
        return verdict
    values = [device_idle(context, device) for device in context.devices]
    idle = {cause: sum(int(one[f"device/idle/{cause}"] or 0) for one in values) for cause in _BECAUSE}
    window = sum(int(one["device/window"] or 0) for one in values)
    drained = sum(int(one[f"device/idle/{Cause.DRAIN}"] or 0) for one in values)
    cause = max(idle, key=lambda one: idle[one])
    if idle[cause] <= drained or idle[cause] < _NOTABLE_IDLE_SHARE * window:
        return verdict
    count = len(values)
    which = f"{_name_of(next(iter(context.devices)))} was" if count == 1 else f"{count} devices were"
    each = f"{format_ns(round(idle[cause] / count))}{'' if count == 1 else ' on average'}"
    share = f"{idle[cause] / window:.1%}".replace("%", " %")
    said = f"{which} idle for {each} ({share} of the window) because {_BECAUSE[cause]}; {verdict.title}"
    return replace(verdict, severity=Severity.WARNING, title=said)


def _worst(context: Context, rows: list[dict[str, Cell]], waits: Table) -> Finding:
    """The call that costs the device most idle time, or where none does, the host most blocked time."""
    worst = rows[0]
    same = [row for row in rows if row["call"] == worst["call"] and row["reason"] == worst["reason"]]
    count, blocked, drains, idle = (
        sum(int(row[name] or 0) for row in same) for name in ("count", "blocked", "drains", "idle_caused")
    )
    title = f"{worst['call']} blocked the host {_times(count)} for {format_ns(blocked)}"
    title += _final_part(waits, worst)
    if drains:
        which = _name_of(next(iter(context.devices))) if len(context.devices) == 1 else "devices"
        apart = "" if drains == 1 else ","  # "device 4 6 times" misleads
        every = sum(int(row["drains"] or 0) for row in rows)
        of_all = f" of {every} drains" if every > drains else ""
        title += f" and drained {which}{apart} {_times(drains)}{of_all} ({format_ns(idle)} idle)"
    else:
        title += " and drained no device"
    title += _where(same)
    return Finding(
        "verdict",
        Severity.WARNING,
        title,
        evidence={
            "call": worst["call"],
            "reason": worst["reason"],
            "count": count,
            "blocked_ns": blocked,
            "drains": drains,
            "idle_ns": idle,
            "range": worst["range"],
            "op": worst["op"],
        },
    )


def _final_part(waits: Table, worst: Mapping[str, Cell]) -> str:
    """How much of these waits came after the last device work, where that is some but not all."""
    names = [column.name for column in waits.columns]
    at, rows = [names.index(name) for name in _OF_A_WAIT], waits.rows
    if isinstance(rows, ColumnRows):
        columns = [rows.column(place) for place in at]
    else:
        columns = [[row[place] for row in rows] for place in at]
    wanted = worst["call"], worst["reason"]
    mine = [(last, ns) for call, reason, last, ns in zip(*columns, strict=True) if (call, reason) == wanted]
    final = [int(ns or 0) for last, ns in mine if last]
    if not final or len(final) == len(mine):
        return ""
    return f" ({format_ns(sum(final))} of it in {len(final)} final wait{'s' if len(final) > 1 else ''})"


def _where(rows: list[dict[str, Cell]]) -> str:
    """The costliest range and op around these waits, and how many more there are."""
    words = (_first_and_more(rows, key) for key in ("range", "op"))
    where = " ".join(f"in {word}" for word in words if word)
    return f", {where}" if where else ""


def _first_and_more(rows: list[dict[str, Cell]], key: str) -> str:
    """The costliest name, how many others there are, and whether some rows have none; empty where the
    costliest row has none."""
    first, *others = dict.fromkeys(row[key] for row in rows)
    if first is None:
        return ""
    words, more = [str(first)], sum(name is not None for name in others)
    words += [f"{more} more {key}{'s' if more > 1 else ''}"] if more else []
    words += [f"outside of {key}s"] if None in others else []
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _longest(verdict: Finding, calls: Table) -> Iterator[Finding]:
    """The call that blocked the host longest, where the verdict names one that costs more idle time."""
    totals: dict[Cell, list[int]] = {}
    for index in range(len(calls.rows)):
        row = _named(calls, index)
        total = totals.setdefault(row["call"], [0, 0])
        total[0] += int(row["count"] or 0)
        total[1] += int(row["blocked"] or 0)
    longest = max(totals, key=lambda call: (totals[call][1], str(call)), default=None)
    if longest is None or verdict.evidence.get("call") in (None, longest):
        return
    count, blocked = totals[longest]
    title = f"{longest} blocked the host longest: {_times(count)} for {format_ns(blocked)}"
    yield Finding(
        "longest_wait",
        Severity.INFO,
        title,
        evidence={"call": longest, "count": count, "blocked_ns": blocked},
    )


def _named(rows: Table, index: int) -> dict[str, Cell]:
    return dict(zip((column.name for column in rows.columns), rows.rows[index], strict=True))


def _only_terminal(waits: Table) -> bool:
    at = [column.name for column in waits.columns].index("terminal")
    return all(bool(row[at]) for row in waits.rows)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _devices(context: Context) -> Iterator[Finding]:
    for device in context.devices:
        idle = device_idle(context, device)
        waited = int(idle["device/idle/host_function"] or 0)
        if waited > _NOTABLE_HOST_FUNCTION_SHARE * int(idle["device/window"] or 0):
            title = f"{_name_of(device)} was idle for {format_ns(waited)} behind host functions"
            yield Finding("host_function_idle", Severity.INFO, title, _scope_of(device), {"idle_ns": waited})
        late = int(idle["device/idle/host_late"] or 0)
        drains = device_drains(context, device)
        if (
            context.is_fed(device)
            and late > max(int(drains["drain/idle"] or 0), 0)
            and 10 * late > int(idle["device/window"] or 0)
        ):
            title = f"{_name_of(device)} was idle for {format_ns(late)} because the host launched late"
            yield Finding("host_late", Severity.WARNING, title, _scope_of(device), {"idle_ns": late})


def _name_of(device: int) -> str:
    return "the device" if device == ABSENT_DEVICE else f"device {device}"


def _scope_of(device: int) -> Scope:
    return {} if device == ABSENT_DEVICE else {"device": device}


def _host(context: Context) -> Iterator[Finding]:
    values = threads_by_tag(context)
    redundant = int(values["host/redundant_waits"].sum())
    if redundant:
        title = f"{redundant} synchronize call{'s' if redundant > 1 else ''} waited for nothing"
        yield Finding("redundant_waits", Severity.INFO, title, evidence={"count": redundant})
    unknown = int(values["host/unknown_wait"].sum())
    if unknown:
        title = f"waits of {format_ns(unknown)} were for work outside of the file, or for nothing"
        yield Finding("unknown_wait", Severity.WARNING, title, evidence={"unknown_wait_ns": unknown})


def _clocks(faults: Quality, shifts: Mapping[int, Shift]) -> Iterator[Finding]:
    inverted = faults.count[Fault.INVERTED]
    for device, shift in shifts.items():
        wanted = f"at least {format_ns(shift.low)}"
        if shift.high is not None and shift.consistent:
            wanted = f"{format_ns(shift.low)} to {format_ns(shift.high)}"
        clock = f"{_name_of(device)}'s clock is {wanted} early"
        title = f"{inverted} operations start before their launch: {clock}"
        if not shift.consistent:
            title += ", yet a wait proves less: no single shift restores the order, so causes are unknown"
        evidence: dict[str, Cell] = {"count": inverted, "low_ns": shift.low, "high_ns": shift.high}
        yield Finding("inverted_clocks", Severity.ERROR, title, _scope_of(device), evidence)


def _quality(context: Context, faults: Quality) -> Iterator[Finding]:
    share = faults.share(Fault.UNLINKED_OPS) or 0.0
    if share > _UNLINKED_SHARE and context.links.host.size > 0:
        title = f"{share:.0%} of the device operations have no call: run-ahead and causes rest on the others"
        yield Finding("unlinked_ops", Severity.WARNING, title, evidence={"share": share})
    if faults.count[Fault.TRUNCATED]:
        yield Finding("truncated", Severity.WARNING, "the trace is cut off: its end is missing")
    clipped = faults.count[Fault.CLIPPED]
    if clipped:
        title = f"{clipped} operations had impossible durations: {format_ns(faults.cut_ns)} cut off"
        yield Finding(
            "clipped", Severity.WARNING, title, evidence={"count": clipped, "cut_ns": faults.cut_ns}
        )
