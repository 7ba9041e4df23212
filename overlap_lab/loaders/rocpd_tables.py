"""The tables of one GUID in a rocpd database, whatever suffix, columns and tables its version has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from overlap_lab.loaders.sqlite_columns import (
    Cell,
    TableColumns,
    query_columns,
    table_columns,
)
from overlap_lab.loaders.sqlite_file import IS_STORED, uri_of
from overlap_lab.loaders.sqlite_stored import AnyOf, Queries

__all__ = ["GuidTables", "Queries", "part_tables"]

_PROCESS: Final = "rocpd_info_process"


class GuidTables:
    """Reads columns of the tables of one GUID; what a version lacks reads as None."""

    def __init__(
        self, connection: Queries, suffix: str, guid: str | None, *, schema: str, here: Collection[str]
    ) -> None:
        """`here` names what is read in the schema."""
        self._connection = connection
        self._suffix = suffix
        self._guid = guid
        self._schema = schema
        self._here = here

    def columns(self, table: str, *names: str) -> tuple[tuple[Any, ...], ...]:
        """One tuple per name, in the order of rows; all empty where the table is missing."""
        full, present = self._full(table)
        rows = self._connection.execute(*self._query(full, present, names)).fetchall() if present else ()
        return tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in names)

    def compiled(
        self, path: Path, table: str, cells: Mapping[str, Cell], only: AnyOf | None = None
    ) -> TableColumns | None:
        """Columns of a table of the file at `path`, by name, of rows that meet `only`.

        Where the version lacks a column, all rows are read; where it lacks the table, there are none. None
        where the core cannot read it.
        """
        full, present = self._full(table)
        if not present:
            return TableColumns.absent(cells, 0)
        only = only if only and set(cells) <= set(present) else None
        mine = self._guid if "guid" in present else None
        if mine is not None and not isinstance(mine, str):  # SQLite keeps to no column's type
            return None
        wanted = ([] if mine is None else [{"guid": (mine,)}]) + ([only] if only else [])
        here = {name: cell for name, cell in cells.items() if name in present}
        found = table_columns(self._connection, path, full, here, wanted)
        if found is None:
            query, parameters = self._query(full, present, tuple(here), only)
            found = query_columns(uri_of(path), query, here, parameters)
        return found and found.with_absent(cells)

    def _full(self, table: str) -> tuple[str, list[str]]:
        """The name of a table here, and its columns; none where it is missing."""
        full = f"rocpd_{table}{self._suffix}"
        present = _columns(self._connection, self._schema, full) if full in self._here else []
        return full, present

    def _query(
        self, full: str, present: Sequence[str], names: Sequence[str], only: AnyOf | None = None
    ) -> tuple[str, tuple[str, ...]]:
        """The statement that reads these columns, and its parameters."""
        cells = ", ".join(_quoted(name) if name in present else "NULL" for name in names)
        mine = (self._guid,) if self._guid is not None and "guid" in present else ()
        # A plus keeps SQLite from an index, and so from another order of rows.
        any_of = [f"+{_quoted(name)} IN ({_marks(texts)})" for name, texts in (only or {}).items()]
        conditions = [f"({each})" for each in ('"guid" = ?' if mine else "", " OR ".join(any_of)) if each]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        place = f"{_quoted(self._schema)}.{_quoted(full)}"
        query = f"SELECT {cells} FROM {place}{where}"  # noqa: S608 names are from the file's own schema
        return query, (*mine, *(text for texts in (only or {}).values() for text in texts))

    def by_id(self, table: str, column: str) -> dict[int, Any]:
        """A column of a table by the row's id."""
        ids, values = self.columns(table, "id", column)
        return dict(zip(ids, values, strict=True))


def part_tables(connection: Queries, *, schemas: Sequence[str] = ("main",)) -> Iterator[GuidTables]:
    """One GuidTables for each GUID of each set of tables in these schemas, in the order of their suffixes.

    The views of "temp" are read like tables: an import of several files, or of a window of time, is made of
    them. Other views only repeat the tables.
    """
    for schema in schemas:
        here = _names(connection, schema)
        for table in here:
            if not table.startswith(_PROCESS):
                continue
            guids: list[str | None] = []
            if "guid" in _columns(connection, schema, table):
                place = f"{_quoted(schema)}.{_quoted(table)}"
                query = f"SELECT DISTINCT guid FROM {place} ORDER BY guid"  # noqa: S608
                guids = [row[0] for row in connection.execute(query)]
            for guid in guids if len(guids) > 1 else [None]:
                yield GuidTables(connection, table[len(_PROCESS) :], guid, schema=schema, here=here)


def _names(connection: Queries, schema: str) -> list[str]:
    """What is read in a schema: of "temp", which an import makes, the views; of a file its tables alone.

    A view or a virtual table in the place of one would run what the file says, maybe without an end.
    """
    if schema == "temp":
        query = "SELECT name FROM sqlite_temp_master WHERE type = 'view' ORDER BY name"
    else:
        query = f"SELECT name FROM {_quoted(schema)}.sqlite_master WHERE {IS_STORED} ORDER BY name"  # noqa: S608
    return [row[0] for row in connection.execute(query)]


def _columns(connection: Queries, schema: str, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA {_quoted(schema)}.table_info({_quoted(table)})")]


def _marks(texts: Sequence[str]) -> str:
    return ", ".join("?" * len(texts))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
