"""Whole columns of an SQLite file, read by the compiled core without a Python object per row."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.alike import NO_TEXT, Coded
from overlap_lab.loaders.sqlite_stored import AnyOf, Queries, stored_table
from overlap_lab.native import Cell, read_columns, read_table, sqlite_version
from overlap_lab.schema import ABSENT
from overlap_lab.trace import Column

__all__ = ["Cell", "Found", "absent_columns", "query_columns", "rows_of", "table_columns"]

_SAME_LIBRARY: Final = sqlite_version() == sqlite3.sqlite_version
"""A Python with an SQLite of its own reads alone: two versions could read one file in two ways."""
_FROM_PAGES: Final = True

Found = dict[str, Column | Coded]


def table_columns(
    connection: Queries, path: Path, table: str, cells: Mapping[str, Cell], only: Sequence[AnyOf] = ()
) -> Found | None:
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
) -> Found | None:
    """The columns of a query by the names in `cells`, which are in its order.

    None where the plain reader must do it: for a damaged file, a cell that its column does not take, or a
    machine without SQLite's library.
    """
    if not _SAME_LIBRARY or not cells or any("\0" in text for text in (sql, *parameters)):
        return None
    return _found(cells, read_columns(uri, sql, list(cells.values()), list(parameters)))


def absent_columns(cells: Mapping[str, Cell], rows: int) -> Found:
    """The columns of rows that have none of these cells."""
    numbers = np.full(rows, ABSENT)
    none = Coded(np.full(rows, NO_TEXT, np.int32), [])
    return {name: none if cell == Cell.TEXT else numbers for name, cell in cells.items()}


def rows_of(found: Found) -> int:
    """How many rows the columns have."""
    first = next(iter(found.values()))
    return len(first.codes if isinstance(first, Coded) else first)


def _found(cells: Mapping[str, Cell], columns: Sequence[Any] | None) -> Found | None:
    if columns is None:
        return None
    return {
        name: Coded(*column) if isinstance(column, tuple) else column
        for name, column in zip(cells, columns, strict=True)
    }
