"""Small rocpd files by the published schema, with only the tables and columns that a test wants."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["GUID", "one_process", "write_tables"]

GUID = "0000aaaa-1111-7111-8111-000000000001"


def write_tables(path: Path, guid: str, tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> Path:
    """Add one GUID's tables; a table's columns are the keys of its first row, besides `guid`."""
    connection = sqlite3.connect(path)
    suffix = "_" + guid.replace("-", "_")
    with connection:
        for table, rows in tables.items():
            dicts = [{**row, "guid": guid} for row in rows]
            columns = ", ".join(f'"{name}"' for name in dicts[0])
            connection.execute(f'CREATE TABLE "rocpd_{table}{suffix}" ({columns})')
            marks = ", ".join("?" * len(dicts[0]))
            connection.executemany(
                f'INSERT INTO "rocpd_{table}{suffix}" VALUES ({marks})',
                [tuple(row.values()) for row in dicts],
            )
    connection.close()
    return path


def one_process(pid: int = 4001, **changes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A launch and its kernel, then a copy with its op; `changes` replace whole tables."""
    strings = ["HIP_RUNTIME_API_EXT", "hipLaunchKernel", "hipMemcpyAsync", "MEMORY_COPY_DEVICE_TO_HOST"]
    tables: dict[str, Any] = {
        "metadata": [{"id": 1, "tag": "schema_version", "value": "3"}],
        "string": [{"id": n, "string": text} for n, text in enumerate(strings, 1)],
        "info_process": [{"id": 1, "pid": pid, "command": "app", "environment": '{"TOKEN": "secret"}'}],
        "info_thread": [{"id": 1, "pid": 1, "tid": pid + 1}],
        "info_agent": [
            {"id": 1, "type": "CPU", "absolute_index": 0, "name": "cpu"},
            {"id": 2, "type": "GPU", "absolute_index": 4, "name": "gfx942"},
        ],
        "info_stream": [
            {"id": 1, "name": "Default Stream", "extdata": "{}"},
            {"id": 2, "name": "Stream 7", "extdata": '{"nonblocking": true}'},
        ],
        "info_kernel_symbol": [{"id": 1, "kernel_name": "k.kd", "display_name": "k(int)"}],
        "event": [
            {"id": n, "category_id": 1, "stack_id": link, "extdata": "{}"}
            for n, link in ((1, 11), (2, 12), (3, 11), (4, 12))
        ],
        "arg": [
            {"event_id": 1, "type": "hipStream_t", "name": "stream", "value": "0x7f00"},
            {"event_id": 2, "type": "hipStream_t", "name": "stream", "value": "0x7f00"},
            {"event_id": 2, "type": "size_t", "name": "sizeBytes", "value": "4096"},
            {"event_id": 2, "type": "hipMemcpyKind", "name": "kind", "value": "DeviceToHost"},
        ],
        "region": [
            {"pid": 1, "tid": 1, "start": 0, "end": 5, "name_id": 2, "event_id": 1, "extdata": "{}"},
            {"pid": 1, "tid": 1, "start": 6, "end": 9, "name_id": 3, "event_id": 2, "extdata": "{}"},
        ],
        "kernel_dispatch": [
            {"pid": 1, "tid": 1, "agent_id": 2, "kernel_id": 1, "queue_id": 3, "stream_id": 2}
            | {"start": 10, "end": 20, "event_id": 3}
        ],
        "memory_copy": [
            {"pid": 1, "tid": 1, "start": 20, "end": 25, "name_id": 4, "src_agent_id": 2, "dst_agent_id": 1}
            | {"size": 4096, "stream_id": 2, "event_id": 4, "extdata": '{"host_memory": "pinned"}'}
        ],
    }
    return {**tables, **changes}
