"""Text with a unit <-> integer nanoseconds."""

from __future__ import annotations

import re
from decimal import Decimal

from overlap_lab.errors import UsageError

__all__ = ["format_ns", "parse_ns"]

_NS_PER_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SCALES = (("s", 10**9), ("ms", 10**6), ("us", 10**3))
_LONGEST_NS = 10**100
"""Far beyond every clock, and a float can still hold it."""
_TEXT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?\s*")


def parse_ns(text: str) -> int:
    """Nanoseconds from "1.5ms", "20us", "3 s" or a bare number of ns.

    >>> parse_ns("1.5ms"), parse_ns("20us"), parse_ns("7")
    (1500000, 20000, 7)
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a time; write for example 250us, 1.5ms or 3s")
    unit = (match[2] or "ns").replace("µ", "u")
    value = Decimal(match[1]) * _NS_PER_UNIT[unit]
    if abs(value) >= _LONGEST_NS:
        raise UsageError(f"{text[:40]!r} is longer than any trace")
    if value != value.to_integral_value():
        raise UsageError(f"{text!r} is finer than a nanosecond")
    return int(value)


def format_ns(value_ns: int) -> str:
    """A time that a person reads at once: three significant digits or all whole ns below 1 us.

    >>> format_ns(950), format_ns(27_000), format_ns(1_738_000), format_ns(0)
    ('950 ns', '27.0 us', '1.74 ms', '0 ns')
    """
    sign, size = ("-", -value_ns) if value_ns < 0 else ("", value_ns)
    if size < 1_000:
        return f"{sign}{size} ns"
    # Rounded to three digits before the unit is chosen, so that 999 999 ns is 1.00 ms, never 1000 us.
    step = min(10 ** (len(str(size)) - 3), 10**9)
    rounded = (size + step // 2) // step * step
    unit, scale = next((unit, scale) for unit, scale in _SCALES if rounded >= scale)
    digits = max(0, 3 - len(str(rounded // scale)))
    return f"{sign}{rounded / scale:.{digits}f} {unit}"
