"""Whole columns of an SQLite file, read by the compiled core without a Python object per row."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.alike import NO_TEXT, Coded, CodedNumbers
from overlap_lab.loaders.sqlite_stored import AnyOf, Queries, stored_table
from overlap_lab.native import Cell, read_columns, read_table, sqlite_version
from overlap_lab.schema import ABSENT
from overlap_lab.trace import Column, constant

__all__ = ["Cell", "TableColumns", "query_columns", "table_columns"]

_SAME_LIBRARY: Final = sqlite_version() == sqlite3.sqlite_version
"""A Python with an SQLite of its own reads alone: two versions could read one file in two ways."""
_FROM_PAGES: Final = True
_NUMBER: Final = np.dtype(np.int64)
_PLAIN: Final = (Cell.INTEGER, Cell.CAST)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of rows of a table by name: numbers, numbers of which few are distinct, and texts."""

    rows: int
    numbers: dict[str, Column]
    few: dict[str, CodedNumbers]
    texts: dict[str, Coded]
    faulty: set[bytes] = field(default_factory=set)
    """Texts that are not UTF-8, whose bytes were replaced."""

    def __getitem__(self, name: str) -> Column:
        return self.numbers[name]

    @classmethod
    def absent(cls, cells: Mapping[str, Cell], rows: int) -> TableColumns:
        """Columns without any of these cells."""
        none = Coded(np.full(rows, NO_TEXT, np.int32), [])
        few = CodedNumbers(np.zeros(rows, np.int32), np.full(min(rows, 1), ABSENT))
        return cls(
            rows,
            {name: constant(ABSENT, rows, _NUMBER) for name, cell in cells.items() if cell in _PLAIN},
            {name: few for name, cell in cells.items() if cell == Cell.CODED},
            {name: none for name, cell in cells.items() if cell == Cell.TEXT},
        )

    def with_absent(self, cells: Mapping[str, Cell]) -> TableColumns:
        """These columns, and those of `cells` that are not here without cells."""
        here = {**self.numbers, **self.few, **self.texts}
        other = self.absent({name: cell for name, cell in cells.items() if name not in here}, self.rows)
        return replace(
            self,
            numbers=self.numbers | other.numbers,
            few=self.few | other.few,
            texts=self.texts | other.texts,
        )


def table_columns(
    connection: Queries, path: Path, table: str, cells: Mapping[str, Cell], only: Sequence[AnyOf] = ()
) -> TableColumns | None:
    """Columns of a table by name, of the rows that meet all conditions, read from the pages of the file.

    `connection` is of the file at `path`, and tells where it keeps the table. None where SQLite must read it.
    """
    stored = stored_table(connection, table) if _FROM_PAGES and cells else None
    if stored is None:
        return None
    places, conditions = stored.all_of(list(cells)), stored.conditions(only)
    if places is None or conditions is None:
        return None
    columns = read_table(os.fsencode(path.resolve()), stored.root, places, list(cells.values()), conditions)
    return _found(cells, columns)


def query_columns(
    uri: str, sql: str, cells: Mapping[str, Cell], parameters: Sequence[str] = ()
) -> TableColumns | None:
    """The columns of a query by the names in `cells`, which are in its order.

    None where the plain reader must do it: for a damaged file, a cell that its column does not take, or a
    machine without SQLite's library.
    """
    if not _SAME_LIBRARY or not cells or any("\0" in text for text in (sql, *parameters)):
        return None
    return _found(cells, read_columns(uri, sql, list(cells.values()), list(parameters)))


def _found(cells: Mapping[str, Cell], columns: Sequence[Any] | None) -> TableColumns | None:
    if columns is None:
        return None
    found = TableColumns(len(columns[0][0] if isinstance(columns[0], tuple) else columns[0]), {}, {}, {})
    for (name, cell), column in zip(cells.items(), columns, strict=True):
        if cell == Cell.TEXT:
            codes, texts, faulty = column
            found.texts[name] = Coded(codes, texts)
            found.faulty.update(faulty)
        elif cell == Cell.CODED:
            found.few[name] = CodedNumbers(*column)
        else:
            found.numbers[name] = column
    return found
