"""The large tables of one GUID of a rocpd file as columns, without a Python object per row."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from overlap_lab.loaders.call_arguments import SIZES, STREAM_TYPES
from overlap_lab.loaders.rocpd_tables import GuidTables
from overlap_lab.loaders.sqlite_columns import Cell, TableColumns

__all__ = ["large_tables"]

_TEXTS: Final = ("extdata", "type", "name", "value")
_FEW: Final = ("pid", "tid", "agent_id", "stream_id")
"""Columns of numbers of which few are distinct."""
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
_WANTED_ARGUMENTS: Final = {"name": ("stream", "kind", *SIZES), "type": STREAM_TYPES}
"""As CallArguments asks."""


def _cell(name: str) -> Cell:
    if name in _FEW:
        return Cell.CODED
    return Cell.TEXT if name in _TEXTS else Cell.INTEGER


def large_tables(path: Path, tables: GuidTables) -> dict[str, TableColumns] | None:
    """Every large table by name, a missing one without rows; None where they must be read the plain way."""
    found: dict[str, TableColumns] = {}
    for table, names in _LARGE.items():
        cells = {name: _cell(name) for name in names}
        columns = tables.compiled(path, table, cells, _WANTED_ARGUMENTS if table == "arg" else None)
        if columns is None:
            return None
        found[table] = columns
    return found
