"""Small Nsight Systems exports by the published schema, with only the tables that a test wants."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "CUPTI",
    "NONE",
    "call",
    "copy",
    "event",
    "global_id",
    "kernel",
    "one_process",
    "sync",
    "write_export",
]

Row = Mapping[str, Any]
NONE = (1 << 32) - 1
CUPTI = "CUPTI_ACTIVITY_KIND_"


def global_id(pid: int = 500, tid: int = 0, machine: int = 1) -> int:
    return machine << 48 | pid << 24 | tid


def call(name: str, start: int | None, end: int | None, link: int | None, **more: Any) -> Row:
    return {
        "start": start, "end": end, "eventClass": 0, "globalTid": global_id(tid=501), "correlationId": link,
        "nameId": name, "returnValue": 0, "callchainId": 9, **more,
    }  # fmt: skip


def _op(start: int, end: int, link: int, more: Row) -> dict[str, Any]:
    return {
        "start": start, "end": end, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": link,
        "globalPid": global_id(), **more,
    }  # fmt: skip


def kernel(name: str, start: int, end: int, link: int, **more: Any) -> Row:
    return _op(start, end, link, {"demangledName": name, "shortName": name[:1], **more})


def copy(start: int, end: int, link: int, **more: Any) -> Row:
    sides = {"bytes": 64, "copyKind": 1, "srcKind": 0, "dstKind": 2}
    return _op(start, end, link, {**sides, **more})


def sync(start: int, end: int, link: int, kind: int, **more: Any) -> Row:
    return _op(start, end, link, {"syncType": kind, "eventId": NONE, "eventSyncId": 0, **more})


def event(link: int, number: int, pairing: int, **more: Any) -> Row:
    row = _op(0, 0, link, {"eventId": number, "eventSyncId": pairing, "timestamp": 0, **more})
    return {name: value for name, value in row.items() if name not in ("start", "end")}


def one_process() -> dict[str, Sequence[Row]]:
    """A launch and its kernel, a pageable copy, and a stream synchronize."""
    return {
        CUPTI + "RUNTIME": [
            call("cudaLaunchKernel_v7000", 0, 5, 11),
            call("cudaMemcpyAsync_ptsz_v7000", 6, 9, 12),
            call("cudaStreamSynchronize_v3020", 10, 30, 13),
        ],
        CUPTI + "KERNEL": [kernel("k(int)", 8, 20, 11)],
        CUPTI + "MEMCPY": [copy(20, 25, 12)],
        CUPTI + "SYNCHRONIZATION": [sync(11, 29, 13, 3)],
    }


def write_export(path: Path, tables: Mapping[str, Sequence[Row]]) -> Path:
    """Write the tables; a table's columns are all the keys of its rows, and text in an id is interned."""
    strings: dict[str, int] = {}
    connection = sqlite3.connect(path)
    with connection:
        for table, rows in tables.items():
            names = list(dict.fromkeys(name for row in rows for name in row)) or ["start"]
            columns = ", ".join(f'"{name}"' for name in names)
            connection.execute(f'CREATE TABLE "{table}" ({columns})')
            cells = [[_interned(name, row.get(name), strings) for name in names] for row in rows]
            connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(names))})', cells)
        connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        connection.executemany(
            "INSERT INTO StringIds VALUES (?, ?)", [(number, text) for text, number in strings.items()]
        )
    connection.close()
    return path


def _interned(name: str, value: Any, strings: dict[str, int]) -> Any:
    is_id = name in ("nameId", "textId", "demangledName", "shortName", "mangledName")
    return strings.setdefault(value, len(strings) + 1) if is_id and isinstance(value, str) else value
