"""The tables of one GUID in a rocpd database, whatever suffix, columns and tables its version has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

__all__ = ["GuidTables", "Queries", "part_tables"]

_PROCESS: Final = "rocpd_info_process"


class Queries(Protocol):
    """A connection to SQLite, or what passes queries on to one, as the objects of the `rocpd` package do."""

    def execute(self, statement: str, parameters: Sequence[Any] = ..., /) -> Any:
        """A cursor over the statement's rows."""


class GuidTables:
    """Reads columns of the tables of one GUID; what a version lacks reads as None."""

    def __init__(self, connection: Queries, suffix: str, guid: str | None, *, schema: str = "main") -> None:
        self._connection = connection
        self._suffix = suffix
        self._guid = guid
        self._schema = schema

    def columns(self, table: str, *names: str) -> tuple[tuple[Any, ...], ...]:
        """One tuple per name, in the order of rows; all empty where the table is missing."""
        query = self.query(table, *names)
        rows = self._connection.execute(*query).fetchall() if query else ()
        return tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in names)

    def query(self, table: str, *names: str, only: str = "") -> tuple[str, tuple[str, ...]] | None:
        """The statement that reads these columns, and its parameters; None where the table is missing.

        `only` is a condition on rows; where the table lacks a column of it, all rows are read.
        """
        full = f"rocpd_{table}{self._suffix}"
        present = _columns(self._connection, self._schema, full)
        if not present:
            return None
        wanted = ", ".join(_quoted(name) if name in present else "NULL" for name in names)
        mine = '"guid" = ?' if self._guid is not None and "guid" in present else ""
        conditions = [f"({each})" for each in (mine, only if set(names) <= set(present) else "") if each]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        place = f"{_quoted(self._schema)}.{_quoted(full)}"
        query = f"SELECT {wanted} FROM {place}{where}"  # noqa: S608 names are from the file's own schema
        return query, (self._guid,) if mine and self._guid is not None else ()

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
        kind = "view" if schema == "temp" else "table"
        for table in _names(connection, schema, kind):
            if not table.startswith(_PROCESS):
                continue
            guids: list[str | None] = []
            if "guid" in _columns(connection, schema, table):
                place = f"{_quoted(schema)}.{_quoted(table)}"
                query = f"SELECT DISTINCT guid FROM {place} ORDER BY guid"  # noqa: S608
                guids = [row[0] for row in connection.execute(query)]
            for guid in guids if len(guids) > 1 else [None]:
                yield GuidTables(connection, table[len(_PROCESS) :], guid, schema=schema)


def _names(connection: Queries, schema: str, kind: str) -> list[str]:
    catalog = "sqlite_temp_master" if schema == "temp" else f"{_quoted(schema)}.sqlite_master"
    query = f"SELECT name FROM {catalog} WHERE type = ? ORDER BY name"  # noqa: S608
    return [row[0] for row in connection.execute(query, (kind,))]


def _columns(connection: Queries, schema: str, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA {_quoted(schema)}.table_info({_quoted(table)})")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
