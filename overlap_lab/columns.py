"""Questions about whole columns of integers, answered by the native core."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from overlap_lab import native

__all__ = [
    "Ints",
    "Mask",
    "Numbers",
    "Rows",
    "code_bits",
    "count_before",
    "count_until",
    "dense_codes",
    "distinct",
    "gather",
    "in_order",
    "is_one_of",
    "largest_of_each",
    "order",
    "rises",
    "rows_of",
    "smallest_of_each",
    "sum_of_each",
]

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int32]
"""Rows of a trace, or indexes of calls or ops: there are fewer than 2^31."""
Numbers = npt.NDArray[np.signedinteger[Any]]
"""Numbers of things, such as threads: small, and of any width."""
_Column = npt.NDArray[Any]
_Value = TypeVar("_Value", bound=np.generic)


def order(*columns: _Column, descending: int = 0) -> Ints:
    """Rows in the order of the columns, the first of which counts most; equal rows stay as they are.

    `descending` has a bit for each column that is to be in falling order: bit 0 for the first.
    """
    return native.order(list(columns), descending=descending)


def dense_codes(*columns: _Column) -> Ints:
    """One small integer per distinct row of the columns, in the columns' lexical order."""
    return native.dense_codes(list(columns))


def distinct(*columns: _Column) -> Ints:
    """The first row of each distinct one, in the columns' lexical order."""
    return native.distinct_rows(list(columns))


def in_order(values: Ints) -> Ints:
    """The values, sorted; themselves where they are."""
    return values if rises(values) else native.sorted_numbers(values)


def rises(values: Ints) -> bool:
    """Whether no value is less than the one before it."""
    return native.in_order(values)


def is_one_of(column: _Column, members: Iterable[int]) -> Mask:
    """Whether each value is one of a few numbers below 64, such as those of an enum."""
    return native.are_members(column, code_bits(members))


def code_bits(members: Iterable[int]) -> int:
    """A few numbers below 64, such as those of an enum, as a set of bits."""
    bits = 0
    for member in members:
        bits |= 1 << member
    return bits


def rows_of(column: _Column, members: Iterable[int]) -> Ints:
    """The rows whose value is one of a few numbers below 64, in order."""
    return native.rows_among(column, code_bits(members))


def gather(column: npt.NDArray[_Value], rows: Numbers) -> npt.NDArray[_Value]:
    """The column's values in some rows: what `column[rows]` gives, on all cores."""
    if column.dtype == np.bool_:
        return native.gather(column.view(np.uint8), rows).view(column.dtype)
    return native.gather(column, rows)


def count_before(ordered: Numbers, asked: Numbers) -> Ints:
    """For each number how many of the ordered ones are less; quick where the numbers are in order too."""
    return native.positions(ordered, asked, native.Side.LEFT)


def count_until(ordered: Numbers, asked: Numbers) -> Ints:
    """For each number how many of the ordered ones are not greater."""
    return native.positions(ordered, asked, native.Side.RIGHT)


def smallest_of_each(group: Numbers, value: Ints, groups: int, *, initial: int) -> Ints:
    """The smallest value of each group; `initial` where that is smaller, or the group has none."""
    return native.fold_groups(group, value, groups, native.Fold.LEAST, initial)


def sum_of_each(group: Numbers, value: Ints, groups: int) -> Ints:
    """The sum of each group's values."""
    return native.fold_groups(group, value, groups, native.Fold.SUM, 0)


def largest_of_each(group: Numbers, value: Ints, groups: int, *, initial: int) -> Ints:
    """The largest value of each group; `initial` where that is larger, or the group has none."""
    return native.fold_groups(group, value, groups, native.Fold.MOST, initial)
