"""Columns of integers from what a text format holds: decimal text, quoted numbers, gaps.

Times are exact: no double is ever made from a time (a double at epoch microseconds is off by 250 ns).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np

from overlap_lab.schema import ABSENT
from overlap_lab.trace import Column

__all__ = ["decimal_column", "has_decimal_comma", "integer", "integer_column", "unsigned_column"]

_WIDTH: Final = 32
_DIGITS: Final = 40
_CHUNK: Final = 1 << 16
"""Rows converted at once: the character matrix stays small beside the events."""
_INT64: Final = np.iinfo(np.int64)
_UINT64: Final = np.iinfo(np.uint64)


def decimal_column(values: Sequence[object], *, decimals: int = 3) -> Column:
    """Numbers times `10**decimals` as int64, exactly, rounded half up; ABSENT where there is no number.

    A value is an int, decimal text, or anything else (absent).

    >>> decimal_column(["1.5", 2, "4026150081288.329", None]).tolist()[:3]
    [1500, 2000, 4026150081288329]
    """
    chunks = [values[at : at + _CHUNK] for at in range(0, len(values), _CHUNK)]
    return np.concatenate([np.zeros(0, np.int64), *(_decimal_chunk(chunk, decimals) for chunk in chunks)])


def _decimal_chunk(values: Sequence[object], decimals: int) -> Column:
    text = [value if value.__class__ is str else str(value) for value in values]
    cells = np.array(text, f"U{_WIDTH}").view(np.uint32).reshape(len(text), _WIDTH)
    digit = cells - np.uint32(48)
    is_digit = digit < 10
    is_dot = cells == 46
    length = (cells != 0).sum(axis=1)
    dot = np.where(is_dot.any(axis=1), is_dot.argmax(axis=1), length)
    plain = (is_digit.sum(axis=1) + is_dot.sum(axis=1) == length) & (is_dot.sum(axis=1) <= 1)
    plain &= (dot > 0) & (dot + decimals <= 18) & (length < _WIDTH)
    out = _scaled(digit.astype(np.int64), is_digit, dot, decimals)
    for row in np.flatnonzero(~plain).tolist():
        out[row] = _slow_decimal(values[row], decimals)
    return out


def _scaled(digit: Column, is_digit: Column, dot: Column, decimals: int) -> Column:
    """The digits before the dot and `decimals` after it as one number; a missing digit counts as 0."""
    out = np.zeros(len(dot), np.int64)
    rows = np.arange(len(dot))
    for place in range(min(int(dot.max()), 18)):
        out = np.where(place < dot, out * 10 + digit[:, place], out)
    for place in range(1, decimals + 2):
        at = np.minimum(dot + place, _WIDTH - 1)
        here = np.where(is_digit[rows, at], digit[rows, at], 0)
        out = out * 10 + here if place <= decimals else out + (here >= 5)
    return out


def _slow_decimal(value: object, decimals: int) -> int:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return ABSENT
    try:
        number = Decimal(value.strip().replace(",", ".") if isinstance(value, str) else value)
        if number.is_zero():
            return 0  # at any exponent, also at one past the next line's bound
        if not number.is_finite() or number.adjusted() + decimals > 19:
            return ABSENT
        scaled = int((number.scaleb(decimals) + Decimal("0.5")).__floor__())
    except (InvalidOperation, ValueError):
        return ABSENT
    return scaled if _INT64.min < scaled <= _INT64.max else ABSENT


def has_decimal_comma(value: object) -> bool:
    """Whether `decimal_column` reads a comma in this number as a point."""
    return isinstance(value, str) and "," in value and decimal_column([value])[0] != ABSENT


def integer(value: object, absent: int = ABSENT) -> int:
    """An int from a number, decimal or hexadecimal text; `absent` for anything else."""
    if isinstance(value, int):
        return int(value)
    if not isinstance(value, str) or len(value) > _DIGITS:
        return absent
    text = value.strip()
    try:
        if text[:2].lower() == "0x":
            return int(text, 16)
        number = Decimal(text)
        if number.is_zero():
            return 0
        return int(number) if number.adjusted() <= _DIGITS else absent  # 1e999999999 would take hours
    except (ValueError, InvalidOperation, OverflowError):
        return absent


def integer_column(values: Sequence[object], absent: int = ABSENT) -> Column:
    """int64 column; `absent` where there is no number or it does not fit."""
    quick = _quick(values, np.dtype(np.int64))
    if quick is not None:
        return quick
    numbers = (integer(value, absent) for value in values)
    return np.fromiter((n if _INT64.min <= n <= _INT64.max else absent for n in numbers), np.int64)


def unsigned_column(values: Sequence[object]) -> Column:
    """uint64 column of ids; negative, missing and unreadable ids are 0, which links nothing."""
    quick = _quick(values, np.dtype(np.int64))
    if quick is not None:
        return np.where(quick < 0, 0, quick).astype(np.uint64)
    numbers = (integer(value, 0) for value in values)
    return np.fromiter((n if 0 <= n <= _UINT64.max else 0 for n in numbers), np.uint64)


def _quick(values: Sequence[object], dtype: np.dtype[np.int64]) -> Column | None:
    """The column in one call where every value is a plain int that fits."""
    if not all(value.__class__ is int for value in values):
        return None
    try:
        return np.array(values, dtype)
    except OverflowError:
        return None
