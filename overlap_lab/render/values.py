"""One value and its unit -> the words a person reads."""

from __future__ import annotations

from overlap_lab.render.names import printable
from overlap_lab.report import Cell
from overlap_lab.units import format_ns

__all__ = ["NOTHING", "format_value", "is_number", "percent"]

NOTHING = "n/a"

_NUMBERS = frozenset({"ns", "count", "ratio", "bytes", "moment"})
_BYTE_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def format_value(value: Cell, unit: str) -> str:
    """The value in words; a number that is None is "n/a", a text that is None is empty.

    To the units of a report comes "moment": ns after the trace's first record, precise enough for `--window`.

    >>> format_value(27_000, "ns"), format_value(0.762527, "ratio"), format_value(12345, "count")
    ('27.0 us', '0.763', '12,345')
    >>> format_value(426_031_482, "moment")
    '426.031 ms'
    """
    if value is None:
        return NOTHING if is_number(unit) else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return printable(value)
    return _number(value, unit)


def _number(value: int | float, unit: str) -> str:
    match unit:
        case "ns":
            return format_ns(round(value))
        case "moment":
            return f"{value / 1_000_000:.3f} ms"
        case "bytes":
            return _bytes(int(value))
        case "id":
            return str(value)
        case _:
            return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def is_number(unit: str) -> bool:
    """Whether cells of this unit are compared digit by digit, and so stand on the right."""
    return unit in _NUMBERS


def percent(part: float, whole: float) -> str:
    """A share with one digit.

    >>> percent(154, 1136), percent(1, 0)
    ('13.6 %', 'n/a')
    """
    return f"{100 * part / whole:.1f} %" if whole else NOTHING


def _bytes(value: int) -> str:
    for unit, scale in _BYTE_UNITS:
        if value >= scale:
            return f"{value / scale:.1f} {unit}"
    return f"{value} B"
