"""Several reports in one table: a row for each measure that people ask for, a column for each report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from overlap_lab.render.names import printable
from overlap_lab.render.numbers import Numbers, blocked_split
from overlap_lab.render.values import NOTHING, format_value
from overlap_lab.report import Column, Report, Table
from overlap_lab.schema import Cause

__all__ = ["side_by_side"]

Named = tuple[str, Report]

_DEVICE: Final = (
    ("window", "device/window"),
    ("device busy", "device/busy"),
    ("device idle", "device/idle"),
    *((f"  idle: {cause.replace('_', ' ')}", f"device/idle/{cause}") for cause in Cause),
    ("drains", "drain/count"),
    ("overlap, of busy time", "overlap/ratio"),
    ("  counting the final wait", "overlap/ratio_literal"),
)
_HOST: Final = (
    ("  while the device did nothing", "host/blocked_while_idle"),
    ("run-ahead, median", "run_ahead/median"),
    ("launch floor", "launch/floor"),
)


def side_by_side(reports: Sequence[Named]) -> Table:
    """The measures of whole traces; rows that are zero or unknown in every report are left out.

    Device measures need reports of one device each: with several devices, only the host's are here.
    """
    rows = [_row(label, tag, reports) for label, tag in _DEVICE]
    rows.append(_row("host blocked", "host/blocked", reports))
    rows.append(("  before the final wait", *(_split(report, 0) for _, report in reports)))
    rows.append(("  in the final wait", *(_split(report, 1) for _, report in reports)))
    rows += [_row(label, tag, reports) for label, tag in _HOST]
    heads = ("", *(printable(name) for name, _ in reports))
    kept = [row for row in rows if any(cell not in _EMPTY for cell in row[1:]) or row[0] == "drains"]
    return Table(tuple(Column(head, "text") for head in heads), tuple(kept), "")


_EMPTY: Final = frozenset({NOTHING, format_value(0, "ns")})


def _row(label: str, tag: str, reports: Sequence[Named]) -> tuple[str, ...]:
    return (label, *(_cell(report, tag) for _, report in reports))


def _cell(report: Report, tag: str) -> str:
    measurement = Numbers(report).measurement(tag, {})
    return NOTHING if measurement is None else format_value(measurement.value, measurement.unit)


def _split(report: Report, part: int) -> str:
    split = blocked_split(report)
    return NOTHING if split is None else format_value(split[part], "ns")
