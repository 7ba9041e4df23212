"""Captures in SQLite, repeated until they have the rows."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from scripts.bench.repeated_text import TIME, Unrepeatable

__all__ = ["repeat_nsys", "repeat_rocpd", "table_rows"]

_GAP_NS: Final = 1000
_ROCPD_EVENT: Final = {
    "id": "event",
    "stack_id": "stack",
    "parent_stack_id": "stack",
    "correlation_id": "stack",
}
_ROCPD_ROW: Final = {"start": TIME, "end": TIME, "event_id": "event", "dispatch_id": "dispatch"}
_ROCPD: Final = {
    "event": _ROCPD_EVENT,
    "region": {"id": "region", **_ROCPD_ROW},
    "kernel_dispatch": {"id": "kernel", **_ROCPD_ROW},
    "memory_copy": {"id": "copy", **_ROCPD_ROW},
    "memory_allocate": {"id": "allocation", **_ROCPD_ROW},
    "sample": {"id": "sample", "timestamp": TIME, "event_id": "event"},
    "arg": {"id": "argument", "event_id": "event"},
}
_NSYS_ROW: Final = {"start": TIME, "end": TIME, "correlationId": "call", "rangeId": "range"}

ColumnsOf = Callable[[str], Mapping[str, str]]
Shifted = Mapping[str, Mapping[str, str]]
"""Table -> column -> family."""


def repeat_rocpd(capture: Path, path: Path, copies: int) -> None:
    """Write a rocpd file whose tables of events, regions, operations and arguments are this often there."""
    _repeat_tables(capture, path, copies, _rocpd_columns)


def _rocpd_columns(table: str) -> Mapping[str, str]:
    stem = max((s for s in _ROCPD if table.startswith(f"rocpd_{s}_")), key=len, default="")
    return _ROCPD.get(stem, {})


def repeat_nsys(capture: Path, path: Path, copies: int) -> None:
    """Write an Nsight Systems file whose tables of calls, operations and ranges are this often there."""
    _repeat_tables(capture, path, copies, _nsys_columns)


def _nsys_columns(table: str) -> Mapping[str, str]:
    timed = table.startswith("CUPTI_ACTIVITY_KIND_") or table in ("NVTX_EVENTS", "PROFILER_OVERHEAD")
    return _NSYS_ROW if timed else {}


def table_rows(path: Path) -> dict[str, int]:
    """How many rows the repeated tables of a file have, by table."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        names = [name for name in _tables(connection) if _rocpd_columns(name) or _nsys_columns(name)]
        rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    connection.close()
    return {name: count for name, count in rows.items() if count}


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    return [name for (name,) in connection.execute(query)]


def _repeat_tables(capture: Path, path: Path, copies: int, columns_of: ColumnsOf) -> None:
    shutil.copyfile(capture, path)
    path.chmod(0o644)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        shifted = {name: dict(columns_of(name)) for name in _tables(connection)}
        shifted = {name: _present(connection, name, families) for name, families in shifted.items()}
        shifted = {name: families for name, families in shifted.items() if families}
        steps = _table_steps(connection, shifted)
        for name, families in shifted.items():
            _repeat_table(connection, name, {column: steps[f] for column, f in families.items()}, copies)
    connection.close()


def _present(connection: sqlite3.Connection, table: str, families: Mapping[str, str]) -> dict[str, str]:
    if not families or not connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone():
        return {}
    return {column: families[column] for column in _columns(connection, table) if column in families}


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def _table_steps(connection: sqlite3.Connection, shifted: Shifted) -> dict[str, int]:
    largest: dict[str, int] = {}
    lows: list[int] = []
    highs: list[int] = []
    for table, column, family in _each(shifted):
        query = f'SELECT min("{column}"), max("{column}") FROM "{table}" WHERE "{column}" > 0'
        low, high = connection.execute(query).fetchone()
        if high is None:
            largest.setdefault(family, 1)
        elif family == TIME:
            lows.append(low)
            highs.append(high)
        else:
            largest[family] = max(largest.get(family, 0), high + 1)
    if not lows:
        raise Unrepeatable("no rows with times")
    return largest | {TIME: max(highs) - min(lows) + _GAP_NS}


def _each(shifted: Shifted) -> Iterator[tuple[str, str, str]]:
    for table, families in shifted.items():
        for column, family in families.items():
            yield table, column, family


def _repeat_table(connection: sqlite3.Connection, table: str, steps: Mapping[str, int], copies: int) -> None:
    columns = _columns(connection, table)
    cells = ", ".join(
        f'CASE WHEN "{name}" > 0 THEN "{name}" + copy * {steps[name]} ELSE "{name}" END'
        if name in steps
        else f'"{name}"'
        for name in columns
    )
    connection.execute(f'CREATE TEMP TABLE original AS SELECT * FROM main."{table}"')
    connection.execute(
        f"WITH RECURSIVE number(copy) AS (VALUES (1) UNION ALL SELECT copy + 1 FROM number"
        f' WHERE copy < {copies - 1}) INSERT INTO main."{table}" ({", ".join(_quoted(columns))})'
        f" SELECT {cells} FROM number CROSS JOIN temp.original WHERE {copies} > 1"
    )
    connection.execute("DROP TABLE temp.original")


def _quoted(names: Sequence[str]) -> list[str]:
    return [f'"{name}"' for name in names]
