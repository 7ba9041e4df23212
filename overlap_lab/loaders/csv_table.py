"""The rows of a rocprofv3 CSV file as columns by lower-case header name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import Coded, alike
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.schema import ABSENT, ABSENT_DEVICE
from overlap_lab.trace import Column, constant

__all__ = ["TIMES", "TRACE_KINDS", "Numbers", "Table", "TableKind", "header_kind"]

TIMES: Final = ("start_timestamp", "end_timestamp")
"""The columns that a row of a trace must have."""


class TableKind(Enum):
    CALLS = auto()
    KERNELS = auto()
    COPIES = auto()
    AGENTS = auto()
    STATISTICS = auto()
    COUNTERS = auto()
    ALLOCATIONS = auto()
    SAMPLES = auto()
    OTHER = auto()


TRACE_KINDS: Final = (TableKind.CALLS, TableKind.KERNELS, TableKind.COPIES)
"""The kinds whose rows are events of a trace."""
_HEADERS: Final[tuple[tuple[TableKind, frozenset[str]], ...]] = (
    (TableKind.COUNTERS, frozenset(("counter_name", "counter_value"))),
    (TableKind.STATISTICS, frozenset(("name", "calls", "totaldurationns"))),
    (TableKind.STATISTICS, frozenset(("name", "calls", "percentage"))),
    (TableKind.CALLS, frozenset(("domain", "function", *TIMES))),
    (TableKind.KERNELS, frozenset(("kernel_name", *TIMES))),
    (TableKind.COPIES, frozenset(("direction", *TIMES))),
    (TableKind.COPIES, frozenset(("source_agent_id", "destination_agent_id", *TIMES))),
    (TableKind.ALLOCATIONS, frozenset(("operation", *TIMES))),
    (TableKind.AGENTS, frozenset(("node_id", "agent_type"))),
    (TableKind.SAMPLES, frozenset(("exec_mask", "sample_timestamp"))),
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers of which a few rows hold other text."""

    values: Column
    odd_rows: Column
    odd: Coded

    def resolved(self, number: Callable[[list[str]], Column]) -> Column:
        """The column with the odd texts as this function has them; of any width where there are none."""
        if not self.odd_rows.size:
            return self.values
        first, place = alike(self.odd.codes)
        found = number([self.odd.texts[code] for code in self.odd.codes[first].tolist()])
        column = self.values.astype(found.dtype)
        column[self.odd_rows] = found[place]
        return column

    def until(self, size: int) -> Numbers:
        """The first rows."""
        odd = self.odd_rows < size
        return Numbers(self.values[:size], self.odd_rows[odd], self.odd.rows(odd))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a file, or of a part of it."""

    path: Path
    kind: TableKind
    columns: Mapping[str, Coded | Numbers]
    """By header name. A column that nothing here reads may hold no rows."""
    size: int

    def has(self, name: str) -> bool:
        """True where the header has this column."""
        return name in self.columns

    def until(self, size: int) -> Table:
        """The first rows."""
        columns = {name: column.until(size) for name, column in self.columns.items()}
        return Table(self.path, self.kind, columns, size)

    def coded(self, *names: str) -> Coded:
        """The first of these columns that is there; empty text for each row where none is."""
        for name in names:
            column = self.columns.get(name)
            if isinstance(column, Coded):
                return column
        return Coded(constant(0, self.size, np.dtype(np.int32)), [""] if self.size else [])

    def text(self, *names: str) -> list[str]:
        """`coded`, as one text per row."""
        column = self.coded(*names)
        return [column.texts[code] for code in column.codes.tolist()]

    def integers(self, name: str) -> Column:
        """A column of numbers; ABSENT where it is missing, empty or no number."""
        return self._numbers(name, lambda texts: _integers(texts, ABSENT))

    def ids(self, name: str) -> Column:
        """A column of correlation ids; 0 where there is none."""
        return self._numbers(name, lambda texts: unsigned_column([integer(text, 0) for text in texts]))

    def agents(self, name: str) -> Column:
        """Agent numbers, from `4`, `Agent 4` or `GPU 0`."""
        column = self.coded(name)
        return _agents(column.texts)[column.codes]

    def distinct_agents(self, name: str) -> set[int]:
        """The numbers that `agents` has."""
        return set(_agents(self.coded(name).texts).tolist())

    def _numbers(self, name: str, number: Callable[[list[str]], Column]) -> Column:
        column = self.columns.get(name)
        if isinstance(column, Numbers):
            return column.resolved(number)
        if column is None:
            missing = number([""])
            return constant(int(missing[0]), self.size, missing.dtype)
        return number(list(column.texts))[column.codes]


def _agents(texts: Sequence[str]) -> Column:
    numbers = _integers([text.rpartition(" ")[2] for text in texts], ABSENT_DEVICE)
    fits = (numbers >= 0) & (numbers <= np.iinfo(np.int16).max)
    return np.where(fits, numbers, ABSENT_DEVICE).astype(np.int16)


def _integers(values: list[str], absent: int) -> Column:
    try:
        return np.array([int(value) for value in values], np.int64)
    except (ValueError, OverflowError):
        return integer_column(values, absent)


def header_kind(header: list[str]) -> TableKind:
    """What the rows under these column names are; OTHER for names that rocprofv3 does not write."""
    names = frozenset(name.strip().lower() for name in header)
    for kind, needed in _HEADERS:
        if needed <= names:
            return kind
    return TableKind.OTHER
