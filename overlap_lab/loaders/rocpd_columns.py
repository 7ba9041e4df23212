"""The large tables of one GUID of a rocpd file as columns, without a Python object per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.loaders.alike import Coded
from overlap_lab.loaders.call_arguments import SIZES, STREAM_TYPES
from overlap_lab.loaders.rocpd_tables import GuidTables
from overlap_lab.loaders.sqlite_columns import Cell, query_columns
from overlap_lab.trace import Column

__all__ = ["TableColumns", "large_tables"]

_TEXTS: Final = ("extdata", "type", "name", "value")
_TIMES: Final = ("pid", "tid", "start", "end")
_OPS: Final = ("queue_id", "stream_id", "event_id", "graph_exec_id")
_LARGE: Final = {
    "event": ("id", "stack_id", "category_id", "extdata"),
    "kernel_dispatch": (*_TIMES, *_OPS, "agent_id", "kernel_id"),
    "memory_copy": (*_TIMES, *_OPS, "name_id", "src_agent_id", "dst_agent_id", "size", "extdata"),
    "region": (*_TIMES, "name_id", "event_id", "extdata"),
    "sample": ("track_id", "timestamp", "event_id", "extdata"),
    "arg": ("event_id", "type", "name", "value"),
}
# As CallArguments asks. A plus keeps SQLite from an index, and so from another order of rows.
_WANTED_ARGUMENTS: Final = " OR ".join(
    [f"+name = '{name}'" for name in ("stream", "kind", *SIZES)] + [f"+type = '{t}'" for t in STREAM_TYPES]
)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of one table by name."""

    numbers: dict[str, Column]
    texts: dict[str, Coded]

    def __getitem__(self, name: str) -> Column:
        return self.numbers[name]


def large_tables(uri: str, tables: GuidTables) -> dict[str, TableColumns] | None:
    """Every large table by name, a missing one without rows; None where they must be read the plain way."""
    found: dict[str, TableColumns] = {}
    for table, names in _LARGE.items():
        columns = _table(uri, tables, table, names)
        if columns is None:
            return None
        found[table] = columns
    return found


def _table(uri: str, tables: GuidTables, table: str, names: tuple[str, ...]) -> TableColumns | None:
    texts = [name for name in names if name in _TEXTS]
    numbers = [name for name in names if name not in _TEXTS]
    query = tables.query(table, *names, only=_WANTED_ARGUMENTS if table == "arg" else "")
    if query is None:
        none = Coded(np.zeros(0, np.int32), [])
        return TableColumns({name: np.zeros(0, np.int64) for name in numbers}, dict.fromkeys(texts, none))
    sql, parameters = query
    if not all(isinstance(text, str) for text in parameters):  # SQLite keeps to no column's type
        return None
    found = query_columns(uri, sql, [Cell.TEXT if n in _TEXTS else Cell.INTEGER for n in names], parameters)
    if found is None:
        return None
    return TableColumns(dict(zip(numbers, found[0], strict=True)), dict(zip(texts, found[1], strict=True)))
