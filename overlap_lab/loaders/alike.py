"""Rows that are alike, found without sorting where numbers are small, and texts that are kept once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.loaders.building import TraceBuilder
from overlap_lab.loaders.coded_numbers import CodedNumbers, gathered
from overlap_lab.native import alike_codes
from overlap_lab.schema import ABSENT
from overlap_lab.trace import Column, constant

__all__ = [
    "NO_TEXT",
    "Coded",
    "CodedNumbers",
    "Lookup",
    "alike",
    "gathered",
    "looked_up",
    "named",
    "or_none",
    "together",
]

NO_TEXT: Final = -1
_SPARE: Final = 1 << 20
_WIDEST: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of texts: the place of each row's text among all of them; NO_TEXT for none."""

    codes: Column
    texts: Sequence[str]

    @classmethod
    def of(cls, values: Sequence[str]) -> Coded:
        """The column of these texts."""
        index: dict[str, int] = {}
        codes = np.fromiter((index.setdefault(text, len(index)) for text in values), np.int32, len(values))
        return cls(codes, list(index))

    def at(self, row: int) -> str | None:
        """A row's text."""
        return self.text(int(self.codes[row]))

    def text(self, code: int) -> str | None:
        """The text of a code."""
        return None if code == NO_TEXT else self.texts[code]

    def each(self, function: Callable[[str], int], dtype: type[np.generic]) -> Column:
        """What the function says of each row's text, asked once per text; no row may be without one."""
        return np.array([function(text) for text in self.texts], dtype)[self.codes]

    def interned(self, builder: TraceBuilder) -> Column:
        """The builder's code of each row's text; no row may be without one."""
        return named(builder, lambda row: self.texts[self.codes[row]], self.codes)

    def rows(self, here: Column) -> Coded:
        """The same texts for some rows."""
        return Coded(self.codes[here], self.texts)

    def until(self, size: int) -> Coded:
        """The first rows, and their texts only; these are in the order in which they came."""
        codes = self.codes[:size]
        return Coded(codes, self.texts[: int(codes.max()) + 1 if size else 0])


def together(*columns: CodedNumbers | Coded) -> tuple[Column, Column]:
    """As `alike`, of columns that are coded already."""
    counts = [len(c.values if isinstance(c, CodedNumbers) else c.texts) for c in columns]
    if math.prod(count + 1 for count in counts) >= _WIDEST:
        return alike(*(column.codes for column in columns))
    return alike_codes([column.codes for column in columns], counts)


class Lookup:
    """Finds rows by key; of rows with one key the last counts."""

    def __init__(self, keys: Column) -> None:
        self._size = len(keys)
        self._consecutive = _are_consecutive(keys)
        if self._consecutive:  # as the ids of a table mostly are
            self._low, self._span = int(keys[0]), self._size
            return
        known = keys[keys != ABSENT]
        self._low = int(known.min()) if known.size else 0
        self._span = int(known.max()) - self._low + 1 if known.size else 0
        self._dense = self._span <= 4 * self._size + _SPARE
        if self._dense:
            self._row = np.full(self._span + 1, -1, np.int64)
            rows = np.flatnonzero(keys != ABSENT)
            self._row[keys[rows] - self._low] = rows
        else:
            self._order = np.argsort(keys, kind="stable")
            self._sorted = keys[self._order]

    def rows(self, keys: Column) -> Column:
        """The row of each key; -1 where there is none, as for ABSENT."""
        if self._consecutive or self._dense:
            inside = (keys >= self._low) & (keys < self._low + self._span)
        if self._consecutive:
            return np.where(inside, keys - self._low, -1)
        if self._dense:
            return self._row[np.where(inside, keys - self._low, self._span)]
        at = np.searchsorted(self._sorted, keys, side="right") - 1
        found = (at >= 0) & (self._sorted[at] == keys) & (keys != ABSENT)
        return np.where(found, self._order[at], -1)


def alike(*columns: Column) -> tuple[Column, Column]:
    """The first row of each distinct combination, in the order of rows; for each row the place of its own."""
    code, count = _small(columns[0])
    for column in columns[1:]:
        other, others = _small(column)
        if count * others > _WIDEST:
            code, count = _small(np.unique(code, return_inverse=True)[1])
        code, count = code * others + other, count * others
    size = len(code)
    if count > 4 * size + _SPARE:
        code = np.unique(code, return_inverse=True)[1]
        count = int(code.max()) + 1
    first = np.full(count, size, np.int64)
    first[code[::-1]] = np.arange(size - 1, -1, -1)  # of rows written to one place the last stays
    used = np.flatnonzero(first < size)
    order = used[np.argsort(first[used], kind="stable")]
    place = np.zeros(count, np.int64)
    place[order] = np.arange(order.size)
    return first[order], place[code]


def looked_up(answers: Column, codes: Column) -> Column:
    """The answer for each row's code; one that all codes share takes no memory."""
    if answers.size and (answers == answers[0]).all():
        return constant(int(answers[0]), codes.size, answers.dtype)
    return np.asarray(answers[codes])


def named(builder: TraceBuilder, name: Callable[[int], str], *columns: Column) -> Column:
    """The builder's code of the name of each row, which is asked of the first of all rows alike."""
    first, place = alike(*columns)
    return builder.interned([name(row) for row in first.tolist()])[place]


def or_none(value: int) -> int | None:
    """The value as SQLite has it: None for ABSENT."""
    return None if value == ABSENT else int(value)


def _are_consecutive(keys: Column) -> bool:
    """Whether each key is one more than the one before it, and there are some."""
    if not len(keys) or keys[0] == ABSENT or int(keys[-1]) - int(keys[0]) != len(keys) - 1:
        return False
    return bool((keys[1:] - keys[:-1] == 1).all())


def _small(column: Column) -> tuple[Column, int]:
    """Codes of the values, and a bound that all codes are below."""
    values = column.astype(np.int64, copy=False)
    known = values != ABSENT
    whole = bool(known.all())
    some = values if whole else values[known]
    if not some.size:
        return np.zeros(len(values), np.int64), 1
    low, high = int(some.min()), int(some.max())
    if high - low > 4 * len(values) + _SPARE:
        codes = np.unique(values, return_inverse=True)[1]
        return codes, int(codes.max()) + 1
    shifted = values - (low - 1) if whole else np.where(known, values - (low - 1), 0)
    return shifted, high - low + 2
