"""Whole columns of a SQLite query, read by the compiled core without a Python object per row."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from overlap_lab.loaders.alike import Coded
from overlap_lab.native import Cell, read_columns, sqlite_version
from overlap_lab.trace import Column

__all__ = ["Cell", "Found", "query_columns"]

_SAME_LIBRARY: Final = sqlite_version() == sqlite3.sqlite_version
"""A Python with an SQLite of its own reads alone: two versions could read one file in two ways."""

Found = tuple[tuple[Column, ...], tuple[Coded, ...]]


def query_columns(uri: str, sql: str, cells: Sequence[Cell], parameters: Sequence[str] = ()) -> Found | None:
    """The number columns and the text columns of a query, each in its order.

    None where the plain reader must do it: for a damaged file, a cell that its column does not take, or a
    machine without SQLite's library.
    """
    if not _SAME_LIBRARY or any("\0" in text for text in (sql, *parameters)):
        return None
    found = read_columns(uri, sql, list(cells), list(parameters))
    if found is None:
        return None
    numbers = tuple(column for column in found if not isinstance(column, tuple))
    return numbers, tuple(Coded(*column) for column in found if isinstance(column, tuple))
