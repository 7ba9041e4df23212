"""Plain values of a saved report -> Report, every part held against its type.

What passes can be compared, shown and written again without a further check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeVar

from overlap_lab.report import Better, Cell, Column, Finding, Measurement, Report, Severity, Table

__all__ = ["constant_in", "report_in"]

_LARGEST: Final = 1 << 64
"""No count, time or id is larger; 10^400 has no float, and so no unit."""
_NUMBERS: Final = frozenset({"ns", "count", "ratio", "bytes"})

_Type = TypeVar("_Type")


def constant_in(name: str) -> NoReturn:
    """For `json.loads`: NaN and Infinity are in no report."""
    raise ValueError(f"{name} is no number")


def report_in(plain: Mapping[str, Any]) -> Report:
    """The report; raises KeyError, TypeError or ValueError for a part that is missing or is none."""
    return Report(
        source=dict(_of(dict, plain["source"])),
        measurements=tuple(map(_measurement, _of(list, plain["measurements"]))),
        tables={_of(str, name): _table(table) for name, table in _of(dict, plain["tables"]).items()},
        findings=tuple(map(_finding, _of(list, plain["findings"]))),
    )


def _measurement(plain: Mapping[str, Any]) -> Measurement:
    reason = plain.get("reason")
    return Measurement(
        tag=_of(str, plain["tag"]),
        scope=_scope(plain["scope"]),
        value=_number(plain["value"]),
        unit=_of(str, plain["unit"]),
        title=_of(str, plain["title"]),
        better=Better(plain["better"]),
        reason=None if reason is None else _of(str, reason),
        low=_number(plain.get("low")),
        high=_number(plain.get("high")),
    )


def _table(plain: Mapping[str, Any]) -> Table:
    columns = tuple(Column(_of(str, c["name"]), _of(str, c["unit"])) for c in _of(list, plain["columns"]))
    rows = tuple(
        tuple(_cell(value, column.unit) for value, column in zip(_of(list, row), columns, strict=True))
        for row in _of(list, plain["rows"])
    )
    return Table(columns, rows, _of(str, plain.get("title", "")))


def _finding(plain: Mapping[str, Any]) -> Finding:
    return Finding(
        rule=_of(str, plain["rule"]),
        severity=Severity(plain["severity"]),
        title=_of(str, plain["title"]),
        scope=_scope(plain["scope"]),
        evidence={name: _cell(value, "text") for name, value in _of(dict, plain["evidence"]).items()},
    )


def _scope(plain: Any) -> dict[str, int]:
    for number in _of(dict, plain).values():
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{number!r} in a scope is no number of a device, stream, process or thread")
    return dict(plain)


def _cell(value: Any, unit: str) -> Cell:
    """A number, where the unit is one of a number; else text, yes or no, too."""
    if isinstance(value, (str, bool)) and unit not in _NUMBERS:
        return value
    return _number(value)


def _number(value: Any) -> int | float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    if not abs(value) <= _LARGEST:  # NaN is neither
        raise ValueError(f"{value!r} is no number that a report holds"[:100])
    return value


def _of(kind: type[_Type], value: Any) -> _Type:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}"[:100])
    return value
