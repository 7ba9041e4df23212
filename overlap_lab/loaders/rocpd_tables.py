"""The tables of one GUID in a rocpd file, whatever suffix, columns and tables its version has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from overlap_lab.loaders.sqlite_file import columns_in, tables_in

__all__ = ["GuidTables", "part_tables"]

_PROCESS: Final = "rocpd_info_process"


class GuidTables:
    """Reads columns of the tables of one GUID; what a version lacks reads as None."""

    def __init__(self, connection: sqlite3.Connection, suffix: str, guid: str | None) -> None:
        self._connection = connection
        self._suffix = suffix
        self._guid = guid

    def columns(self, table: str, *names: str) -> tuple[tuple[Any, ...], ...]:
        """One tuple per name, in the order of rows; all empty where the table is missing."""
        full = f"rocpd_{table}{self._suffix}"
        present = columns_in(self._connection, full)
        if not present:
            return tuple(() for _ in names)
        wanted = ", ".join(f'"{name}"' if name in present else "NULL" for name in names)
        where = ' WHERE "guid" = ?' if self._guid is not None and "guid" in present else ""
        query = f'SELECT {wanted} FROM "{full}"{where}'  # noqa: S608 names are from the file's own schema
        rows = self._connection.execute(query, (self._guid,) if where else ()).fetchall()
        return tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in names)

    def by_id(self, table: str, column: str) -> dict[int, Any]:
        """A column of a table by the row's id."""
        ids, values = self.columns(table, "id", column)
        return dict(zip(ids, values, strict=True))


def part_tables(connection: sqlite3.Connection) -> Iterator[GuidTables]:
    """One GuidTables for each GUID of each set of tables, in the order of their suffixes."""
    for table in tables_in(connection):
        if not table.startswith(_PROCESS):
            continue
        suffix = table[len(_PROCESS) :]
        guids: list[str | None] = []
        if "guid" in columns_in(connection, table):
            query = f'SELECT DISTINCT guid FROM "{table}" ORDER BY guid'  # noqa: S608
            guids = [guid for (guid,) in connection.execute(query)]
        for guid in guids if len(guids) > 1 else [None]:
            yield GuidTables(connection, suffix, guid)
