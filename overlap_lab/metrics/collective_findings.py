"""What is worth saying about collectives: how long they ran alone, who waits in them, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from overlap_lab.metrics.collective_paces import collective_measures
from overlap_lab.metrics.collectives import collectives_of, waits_for
from overlap_lab.metrics.context import Context
from overlap_lab.metrics.idle import device_idle
from overlap_lab.metrics.tables import table
from overlap_lab.report import Cell, Finding, Severity, Table
from overlap_lab.schema import ABSENT_DEVICE, Cause
from overlap_lab.units import format_ns

__all__ = ["collective_findings", "collectives_table", "waits_first"]

_LEAST_MATCHED: Final = 3
_LEAST_SHARE: Final = 0.01
"""Of the time of all devices: less is not worth a word."""
_NOTABLE_SHARE: Final = 0.05
"""From here on waits stand in the verdict, where no cause of idle time costs more."""
_COLUMNS: Final = {
    "count": "count",
    "time": "ns",
    "exposed": "ns",
    "matched": "count",
    "last": "count",
    "waited": "ns",
    "waited_exposed": "ns",
    "awaited": "ns",
    "span": "ns",
    "launching": "ns",
    "work": "ns",
    "gain": "ns",
}


def collectives_table(context: Context) -> Table:
    """One row for each device where any runs collectives."""
    rows = [
        (None if device == ABSENT_DEVICE else device, *(value for value, _ in values.values()))
        for device, values in collective_measures(context).items()
    ]
    columns = " ".join(f"{name}:{unit}" for name, unit in _COLUMNS.items())
    return table(f"device:id {columns}", rows, "Collectives")


def collective_findings(context: Context, tables: Mapping[str, Table]) -> Iterator[Finding]:
    """How long collectives ran, and where waits in them are worth a word, who waits, for the straggler."""
    rows = [dict(zip(("device", *_COLUMNS), row, strict=True)) for row in tables["collectives"].rows]
    if not rows:
        return
    if not _sum(rows, "count"):
        return  # none in the window
    ran, exposed, waited = (_sum(rows, name) for name in ("time", "exposed", "waited_exposed"))
    title = f"collectives ran for {format_ns(ran)}{_on(rows)}, {format_ns(exposed)} of it with no other op"
    yield Finding("collectives", Severity.INFO, title, evidence={"time_ns": ran, "exposed_ns": exposed})
    windows = (context.window_of(device) for device in context.devices)
    if not waited or waited < _LEAST_SHARE * sum(last - first for first, last in windows):
        return
    found = _straggler(rows, waited)
    if found is not None:
        yield _of_straggler(context, rows, found)
        return
    waiting = _waiting_for(context, None)
    who = f"{waiting} devices" if waiting > 1 else "one device"
    title = f"{who} waited {format_ns(waited)} for others in collectives, with no clear straggler"
    evidence: dict[str, Cell] = {"waited_ns": waited, "waiting": waiting}
    yield Finding("collective_waits", Severity.INFO, title, evidence=evidence)


def waits_first(context: Context, verdict: Finding, found: Sequence[Finding]) -> Finding:
    """The verdict, after the waits in collectives that are found where no cause of idle time costs more."""
    waits = next((one for one in found if one.rule in ("straggler", "collective_waits")), None)
    if waits is None:
        return verdict
    values = [device_idle(context, device) for device in context.devices]
    most = max(sum(int(one[f"device/idle/{cause}"] or 0) for one in values) for cause in Cause)
    window = sum(int(one["device/window"] or 0) for one in values)
    waited = int(waits.evidence["waited_ns"] or 0)
    if waited <= most or waited < _NOTABLE_SHARE * window:
        return verdict
    return replace(verdict, severity=Severity.WARNING, title=f"{waits.title}; {verdict.title}")


def _sum(rows: list[dict[str, Cell]], name: str) -> int:
    return sum(int(row[name] or 0) for row in rows)


def _on(rows: list[dict[str, Cell]]) -> str:
    devices = sum(bool(row["count"]) for row in rows)
    return f" on {devices} devices" if devices > 1 else ""


def _straggler(rows: list[dict[str, Cell]], waited: int) -> dict[str, Cell] | None:
    """The device that most of the waits were for, where it also started last in more than half of its
    collectives, of which there are at least three."""
    most = max(rows, key=lambda row: int(row["awaited"] or 0))
    matched, last = int(most["matched"] or 0), int(most["last"] or 0)
    is_clear = 2 * last > matched >= _LEAST_MATCHED and 2 * int(most["awaited"] or 0) > waited
    return most if is_clear else None


def _of_straggler(context: Context, rows: list[dict[str, Cell]], row: Mapping[str, Cell]) -> Finding:
    device = int(row["device"] or 0)
    waiting = _waiting_for(context, device)
    who = f"{waiting} devices" if waiting > 1 else "another device"
    title = (
        f"device {device} started last in {row['last']} of {row['matched']} collectives: {who} waited "
        f"{format_ns(int(row['awaited'] or 0))} for it and did nothing else"
    )
    evidence: dict[str, Cell] = {
        "waited_ns": row["awaited"],
        "waiting": waiting,
        "last": row["last"],
        "matched": row["matched"],
    }
    if row["gain"] is not None:
        nearest = max((one for one in rows if one is not row and one["gain"] is not None), key=_least)
        evidence |= {"gain_ns": row["gain"], "span_ns": row["span"], "next": nearest["device"]}
        evidence |= {"needs_ns": _least(row), "next_needs_ns": _least(nearest)}
        gain, span = format_ns(int(row["gain"] or 0)), format_ns(int(row["span"] or 0))
        title += (
            f"; were it ({format_ns(_least(row))} by itself) as fast as the next slowest "
            f"({format_ns(_least(nearest))}), at most {gain} of {span} would be gained"
        )
    return Finding("straggler", Severity.WARNING, title, {"device": device}, evidence)


def _least(row: Mapping[str, Cell]) -> int:
    """What the host of a device needs by itself, or the device, whichever is more."""
    return max(int(row["launching"] or 0), int(row["work"] or 0))


def _waiting_for(context: Context, device: int | None) -> int:
    """How many devices waited for one, or for any, and did nothing else."""
    found = collectives_of(context)
    if found is None:
        return 0
    return int(np.unique(found.device[waits_for(context, found, device) > 0]).size)
