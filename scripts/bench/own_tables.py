"""Small captures as rocprofv3 and Nsight Systems write them, for where no real one is given."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

__all__ = ["write_nsys", "write_rocprof_csv", "write_rocprof_json"]

_KERNELS: Final = [f"void kernel_{n}<float, {n % 7}>(float*, float const*, int)" for n in range(200)]
_CALLS: Final = ("hipLaunchKernel", "hipMemcpyAsync", "hipGetLastError", "hipStreamSynchronize")
_START_NS: Final = 10**15

Row = tuple[Any, ...]


def write_rocprof_csv(folder: Path, rows: int) -> list[Path]:
    """Half of the rows are calls, half kernels."""
    calls, kernels = folder / "decode_hip_api_trace.csv", folder / "decode_kernel_trace.csv"
    header = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
    _write_csv(
        calls,
        header,
        (
            ("HIP_RUNTIME_API", _CALLS[n % 4], 4001, 4001 + n % 2, n + 1, at, at + 700)
            for n, at in _times(rows // 2)
        ),
    )
    header = (
        "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id "
        "Start_Timestamp End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Workgroup_Size_X Grid_Size_X"
    )
    _write_csv(
        kernels,
        header,
        (
            ("KERNEL_DISPATCH", "Agent 4", 1, 1 + n % 2, 4001, n + 1, n % 200, _KERNELS[n % 200], n + 1)
            + (at + 800, at + 1500, 0, 0, 32, 256, 65536)
            for n, at in _times(rows // 2)
        ),
    )
    return [calls, kernels]


def _write_csv(path: Path, header: str, rows: Iterable[Row]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_ALL)
        out.writerow(header.split())
        out.writerows(rows)


def _times(rows: int) -> Iterator[tuple[int, int]]:
    for n in range(rows):
        yield n, _START_NS + 1000 * n


def write_rocprof_json(path: Path, rows: int) -> None:
    """Half of the records are calls, half kernels."""
    kinds = [{"kind": "NONE", "operations": ["NONE"]} for _ in range(12)]
    kinds[2] = {"kind": "HIP_RUNTIME_API", "operations": list(_CALLS)}
    kinds[11] = {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "ENQUEUE", "COMPLETE"]}
    symbols = [
        {"kernel_id": n, "kernel_name": name, "formatted_kernel_name": name}
        for n, name in enumerate(_KERNELS)
    ]
    tool = {
        "metadata": {"pid": 4001, "config": {"group_by_queue": False}},
        "agents": [{"id": {"handle": 4}, "node_id": 4, "type": 2, "name": "gfx942"}],
        "strings": {"buffer_records": kinds, "marker_api": []},
        "kernel_symbols": symbols,
        "buffer_records": {
            "kernel_dispatch": [_kernel(n, at) for n, at in _times(rows // 2)],
            "hip_api": [_call(n, at) for n, at in _times(rows // 2)],
        },
    }
    path.write_text(json.dumps({"rocprofiler-sdk-tool": [tool]}))


def _call(n: int, at: int) -> dict[str, Any]:
    shared = {"size": 72, "thread_id": 4001 + n % 2, "correlation_id": {"internal": n + 1, "external": 0}}
    return shared | {"kind": 2, "operation": n % 4, "start_timestamp": at, "end_timestamp": at + 700}


def _kernel(n: int, at: int) -> dict[str, Any]:
    info = {"agent_id": {"handle": 4}, "queue_id": {"handle": 1}, "kernel_id": n % 200, "dispatch_id": n + 1}
    times = {"start_timestamp": at + 800, "end_timestamp": at + 1500}
    stream = {"stream_id": {"handle": 1 + n % 2}}
    return _call(n, at) | times | stream | {"kind": 11, "operation": 2, "dispatch_info": info}


def write_nsys(path: Path, rows: int) -> None:
    """Two fifths calls, two fifths kernels, one tenth copies, one tenth NVTX ranges."""
    owner, prefix = 1 << 48 | 500 << 24, "CUPTI_ACTIVITY_KIND_"
    calls, names = rows * 2 // 5, [f"cuda{name[3:]}_v7000" for name in _CALLS] + _KERNELS
    ops = "start INTEGER, end INTEGER, deviceId, contextId, streamId, correlationId, globalPid"
    tables: dict[str, tuple[str, Iterable[Row]]] = {
        "StringIds": ("id INTEGER PRIMARY KEY, value", enumerate(names, 1)),
        prefix + "RUNTIME": (
            "start INTEGER, end INTEGER, eventClass, globalTid, correlationId, nameId, returnValue",
            ((at, at + 700, 0, owner + 501, 1 + n, 1 + n % 4, 0) for n, at in _times(calls)),
        ),
        prefix + "KERNEL": (
            ops + ", demangledName, shortName",
            ((at + 800, at + 1500, 0, 1, 7 + n % 2, 1 + n, owner, 5 + n % 200, 5) for n, at in _times(calls)),
        ),
        prefix + "MEMCPY": (
            ops + ", bytes, copyKind, srcKind, dstKind",
            ((at + 900, at + 990, 0, 1, 9, 2 + 4 * n, owner, 4096, 1, 1, 2) for n, at in _times(rows // 10)),
        ),
        "NVTX_EVENTS": (
            "start INTEGER, end INTEGER, eventType, globalTid, text TEXT, textId INTEGER",
            ((at, at + 900, 59, owner + 501, f"layer {n % 64}", None) for n, at in _times(rows // 10)),
        ),
    }
    with sqlite3.connect(path) as connection:
        for table, (columns, each) in tables.items():
            connection.execute(f'CREATE TABLE "{table}" ({columns})')
            marks = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', each)
    connection.close()
