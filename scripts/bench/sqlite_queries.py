"""The rows of rocpd and Nsight Systems files that `load` reads, as statements for other readers."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

__all__ = ["queries"]

_TIMES: Final = ("pid", "tid", "start", "end")
_OPS: Final = ("queue_id", "stream_id", "event_id")
_ROCPD: Final = {
    "event": ("id", "stack_id", "category_id", "extdata"),
    "kernel_dispatch": (*_TIMES, *_OPS, "agent_id", "kernel_id"),
    "memory_copy": (*_TIMES, *_OPS, "name_id", "src_agent_id", "dst_agent_id", "size", "extdata"),
    "region": (*_TIMES, "name_id", "event_id", "extdata"),
    "arg": ("event_id", "type", "name", "value"),
}
_NSYS_OPS: Final = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
_CUPTI: Final = "CUPTI_ACTIVITY_KIND_"
_NSYS: Final = {
    _CUPTI + "RUNTIME": ("start", "end", "globalTid", "correlationId", "nameId"),
    _CUPTI + "DRIVER": ("start", "end", "globalTid", "correlationId", "nameId"),
    _CUPTI + "KERNEL": (*_NSYS_OPS, "demangledName", "shortName", "graphNodeId"),
    _CUPTI + "MEMCPY": (*_NSYS_OPS, "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"),
    _CUPTI + "MEMSET": (*_NSYS_OPS, "bytes", "graphNodeId"),
    _CUPTI + "SYNCHRONIZATION": (*_NSYS_OPS, "syncType"),
    "NVTX_EVENTS": ("start", "end", "eventType", "globalTid", "text", "textId"),
}


def queries(path: Path) -> list[str]:
    """One statement for each large table of the file: the columns that `load` reads of it.

    Of arguments `load` keeps some rows only; all are read here, as a reader would that knows no names.
    """
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    found = []
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in names:
        present = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        wanted = [name for name in _wanted(table) if name in present]
        if wanted and connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone():
            cells = ", ".join(f'"{name}"' for name in wanted)
            found.append(f'SELECT {cells} FROM "{table}"')
    connection.close()
    return found


def _wanted(table: str) -> tuple[str, ...]:
    for stem, names in _ROCPD.items():
        if table.startswith(f"rocpd_{stem}_"):
            return names
    return _NSYS.get(table, ())
