"""Where an SQLite file keeps a table: what the compiled core needs to read it from the pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

__all__ = ["AnyOf", "Queries", "StoredTable", "stored_table"]

AnyOf = Mapping[str, Sequence[str]]
"""A condition on rows: one of these columns has one of its texts."""

_ROWID: Final = -1
_REAL: Final = ("REAL", "FLOA", "DOUB")  # codespell:ignore doub
_TEXT: Final = ("CHAR", "CLOB", "TEXT")

Place = tuple[int, bool]
Condition = list[tuple[Place, list[str]]]


class Queries(Protocol):
    """A connection to SQLite, or what passes queries on to one, as the objects of the `rocpd` package do."""

    def execute(self, statement: str, parameters: Sequence[Any] = ..., /) -> Any:
        """A cursor over the statement's rows."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table whose rows hold what a query of its columns gives."""

    root: int
    """The page that its tree begins with."""
    places: Mapping[str, Place]
    """Per lower-case name of a column its place in a record, and whether older rows have a default."""
    texts: frozenset[str]
    """Columns that keep texts as they are, and compare them byte by byte."""

    def all_of(self, names: Sequence[str]) -> list[Place] | None:
        """The places of columns; None where one is not as it is stored."""
        found = [self.places.get(name.lower()) for name in names]
        return None if None in found else [place for place in found if place]

    def conditions(self, wanted: Sequence[AnyOf]) -> list[Condition] | None:
        """The conditions by place; None where texts are compared in another way than byte by byte."""
        if not all(name.lower() in self.texts for any_of in wanted for name in any_of):
            return None
        return [
            [(self.places[name.lower()], list(texts)) for name, texts in any_of.items()] for any_of in wanted
        ]


def stored_table(connection: Queries, table: str) -> StoredTable | None:
    """Where the main database keeps a table; None for one whose rows are not simply its columns.

    Those are views and virtual tables, and tables with generated columns. A table without rowids is told by
    its pages.
    """
    query = "SELECT rootpage, sql FROM main.sqlite_master WHERE type = 'table' AND name = ?"
    found = connection.execute(query, (table,)).fetchone()
    try:
        columns = _pragma(connection, "table_xinfo", table)
    except sqlite3.OperationalError:  # a library from before generated columns
        return None
    if found is None or not isinstance(found[0], int) or any(hidden for *_, hidden in columns):
        return None
    root, sql = found
    keys = [name for _, name, kind, _, _, key, _ in columns if key]
    rowid = {name for _, name, kind, _, _, key, _ in columns if key and kind.upper() == "INTEGER"}
    indexed = any(origin == "pk" for _, _, _, origin, _ in _pragma(connection, "index_list", table))
    alias = rowid if len(keys) == 1 and not indexed else set()
    places = {
        name.lower(): (_ROWID if name in alias else number, default not in (None, "NULL"))
        for number, name, kind, _, default, _, _ in columns
        if not _has(kind, _REAL) or _has(kind, ("INT", *_TEXT, "BLOB"))
    }
    collated = "collate" in str(sql).lower()
    texts = [name.lower() for _, name, kind, *_ in columns if not collated and _keeps_texts(kind)]
    return StoredTable(root, places, frozenset(texts))


def _keeps_texts(kind: str) -> bool:
    return "INT" not in kind.upper() and (not kind or _has(kind, (*_TEXT, "BLOB")))


def _has(kind: str, words: Sequence[str]) -> bool:
    return any(word in kind.upper() for word in words)


def _pragma(connection: Queries, name: str, table: str) -> list[tuple[Any, ...]]:
    quoted = table.replace('"', '""')
    return list(connection.execute(f'PRAGMA main.{name}("{quoted}")').fetchall())
