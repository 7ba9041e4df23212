"""ROCm's `rocpd` package as far as `load` meets it: a connection, or an import of several databases.

One file is one connection. Several are attached to a database in memory, where temporary views of the tables
without their suffix join them; a window of time replaces such a view.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["RocpdImportData", "apply_time_window", "connect"]


class RocpdImportData:
    """Passes what it has not itself on to its connection."""

    def __init__(self, connection: sqlite3.Connection, databases: Sequence[str]) -> None:
        self.connection = connection
        self.databases = list(databases)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def connect(paths: Path | Sequence[Path]) -> RocpdImportData:
    if isinstance(paths, Path):
        return RocpdImportData(sqlite3.connect(paths), [str(paths)])
    connection = sqlite3.connect(":memory:")
    selects: dict[str, list[str]] = {}
    for number, path in enumerate(paths):
        connection.execute(f"ATTACH DATABASE '{path}' AS db{number}")
        tables = connection.execute(f"SELECT name FROM db{number}.sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            base = table[: -len("_0000aaaa_1111_7111_8111_000000000001")]
            selects.setdefault(base, []).append(f'SELECT * FROM db{number}."{table}"')
    for base, each in selects.items():
        connection.execute(f"CREATE TEMPORARY VIEW {base} AS {' UNION ALL '.join(each)}")
    return RocpdImportData(connection, [str(path) for path in paths])


def apply_time_window(data: RocpdImportData, start: int, end: int) -> None:
    """Show only the regions inside a window, as `rocpd.time_window` does."""
    [[sql]] = data.execute("SELECT sql FROM sqlite_temp_master WHERE name = 'rocpd_region'").fetchall()
    select = sql.partition(" AS ")[2]
    data.execute("DROP VIEW rocpd_region")
    data.execute(
        f"CREATE TEMPORARY VIEW rocpd_region AS SELECT * FROM ({select}) "
        f'WHERE start >= {start} AND "end" <= {end}'
    )
