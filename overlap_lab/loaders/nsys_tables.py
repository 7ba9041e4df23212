"""Tables of an Nsight Systems export, whatever tables and columns its version has."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.loaders.alike import NO_TEXT, Coded, CodedNumbers, gathered, together
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.numbers import integer_column
from overlap_lab.loaders.sqlite_columns import (
    Cell,
    TableColumns,
    query_columns,
    table_columns,
)
from overlap_lab.loaders.sqlite_file import columns_in, note_faulty, tables_in, tell_replaced, uri_of
from overlap_lab.schema import ABSENT
from overlap_lab.trace import Column

__all__ = ["NO_ID", "NsysTables", "distinct_rows", "known_ids"]

NO_ID: Final = (1 << 32) - 1
"""What CUPTI writes for "none", besides -1."""
_AT_ONCE: Final = 500


class NsysTables:
    """Reads whole columns; a table or column that the version lacks is absent, not an error."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._tables = frozenset(tables_in(connection))

    def has(self, table: str) -> bool:
        """Whether the export has the table; empty ones are often left out."""
        return table in self._tables

    def integers(self, table: str, *names: str) -> tuple[Column, ...]:
        """One int64 column per name, in the order of rows; ABSENT for no number and for missing columns."""
        found = self._compiled(table, dict.fromkeys(names, Cell.CAST))
        return tuple(found.numbers.values()) if found else self._plain_integers(table, names)

    def columns(
        self, table: str, numbers: Sequence[str], few: Sequence[str], texts: Sequence[str] = ()
    ) -> TableColumns:
        """Columns as `integers` and `texts` have them; `few` are of numbers of which few are distinct."""
        cells = dict.fromkeys(numbers, Cell.CAST) | dict.fromkeys(few, Cell.CODED)
        found = self._compiled(table, cells | dict.fromkeys(texts, Cell.TEXT))
        if found:
            return replace(found, texts={name: _with_empty(text) for name, text in found.texts.items()})
        plain = dict(zip(cells, self._plain_integers(table, tuple(cells)), strict=True))
        return TableColumns(
            len(plain[numbers[0]]),
            {name: plain[name] for name in numbers},
            {name: CodedNumbers.of(plain[name]) for name in few},
            {name: Coded.of(self.texts(table, name)[0]) for name in texts},
        )

    def _plain_integers(self, table: str, names: tuple[str, ...]) -> tuple[Column, ...]:
        # Not a plain CAST: text that is no number would be a 0 that nobody wrote.
        cells = ", ".join(
            f"CASE typeof({each}) WHEN 'text' THEN {each} WHEN 'blob' THEN NULL "
            f"ELSE CAST({each} AS INTEGER) END"
            for each in self._cells(table, names)
        )
        rows = self._rows(table, cells)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return tuple(integer_column(column) for column in columns)

    def texts(self, table: str, *names: str) -> tuple[list[str], ...]:
        """One list of text per name, in the order of rows; empty text for NULL and for missing columns."""
        cells = ", ".join(f"IFNULL(CAST({each} AS TEXT), '')" for each in self._cells(table, names))
        rows = self._rows(table, cells)
        return tuple(map(list, zip(*rows, strict=True))) if rows else tuple([] for _ in names)

    def strings(self, ids: Column) -> dict[int, str]:
        """The texts of these ids in the file's own string table."""
        found: dict[int, str] = {}
        if not self.has("StringIds"):
            return found
        wanted = np.unique(ids[ids != ABSENT]).tolist()
        for at in range(0, len(wanted), _AT_ONCE):
            some = wanted[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, CAST(value AS TEXT) FROM StringIds WHERE id IN ({marks})"  # noqa: S608
            found.update((key, text or "") for key, text in self._connection.execute(query, some))
        return found

    def names(self, ids: CodedNumbers, kind: str) -> tuple[list[str], Column]:
        """The distinct texts of a column of string ids, and for each row the place of its text among them.

        An id without text is shown as `kind` with the id.
        """
        (distinct,), place = distinct_rows(ids)
        known = self.strings(distinct)
        shown = [known.get(key) or (kind if key == ABSENT else f"{kind} {key}") for key in distinct.tolist()]
        return shown, place

    def enum(self, table: str, default: Mapping[int, str]) -> dict[int, str]:
        """Number -> symbol, as the file's own ENUM table says; `default` where it has none."""
        numbers = self.integers(table, "id")[0].tolist() if self.has(table) else []
        symbols = self.texts(table, "name")[0] if numbers else []
        own = {n: symbol for n, symbol in zip(numbers, symbols, strict=True) if symbol}
        return own or dict(default)

    def tell_replaced(self, findings: Findings) -> None:
        """Count the texts read so far in which bytes were replaced."""
        tell_replaced(self._connection, self._path, findings)

    def _cells(self, table: str, names: tuple[str, ...]) -> list[str]:
        present = {name.lower() for name in columns_in(self._connection, table)}
        return [f'"{name}"' if name.lower() in present else "NULL" for name in names]

    def _compiled(self, table: str, cells: Mapping[str, Cell]) -> TableColumns | None:
        """Columns by name, the missing ones without cells; None where the core cannot read them."""
        if not self.has(table):
            return None
        present = {name.lower() for name in columns_in(self._connection, table)}
        here = {name: cell for name, cell in cells.items() if name.lower() in present}
        found = table_columns(self._connection, self._path, table, here)
        if found is None:
            query = f'SELECT {", ".join(self._cells(table, tuple(here)))} FROM "{table}"'  # noqa: S608 as in _rows
            found = query_columns(uri_of(self._path), query, here)
        if found is None:
            return None
        note_faulty(self._connection, found.faulty)
        return found.with_absent(cells)

    def _rows(self, table: str, cells: str) -> list[tuple[Any, ...]]:
        if not self.has(table):
            return []
        query = f'SELECT {cells} FROM "{table}"'  # noqa: S608 names are this package's own
        return self._connection.execute(query).fetchall()


def known_ids(ids: Column) -> Column:
    """The ids with CUPTI's ways to say "none" made ABSENT."""
    return np.where((ids == NO_ID) | (ids == -1), ABSENT, ids)


def distinct_rows(*columns: CodedNumbers) -> tuple[tuple[Column, ...], Column]:
    """The distinct rows of columns, sorted, and for each row the place of its like among them."""
    first, place = together(*columns)
    distinct = [column.values[column.codes[first]] for column in columns]
    order = np.lexsort(distinct[::-1])
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return tuple(column[order] for column in distinct), gathered(rank, place)


def _with_empty(text: Coded) -> Coded:
    """The same with an empty text where there is none."""
    none = text.codes == NO_TEXT
    return Coded(np.where(none, len(text.texts), text.codes), [*text.texts, ""]) if none.any() else text
