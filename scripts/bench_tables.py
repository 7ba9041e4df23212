"""Time the readers of rocpd, Nsight Systems and rocprofv3 CSV against their plain forms and against pandas.

    python scripts/bench_tables.py [--rows 1000000] [--pairs 5] [rocpd nsys csv]

Files are made once under build/bench. Each pair is run one after the other in one process, so that a busy
machine slows both; printed are the medians of the ratios, and the growth of memory in a process of its own.
"""

from __future__ import annotations

import argparse
import csv
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import overlap_lab.loaders.sqlite_columns as sqlite
from overlap_lab.loaders import csv_reading, load

OUT = Path("build/bench")
KERNELS = [f"void kernel_{n}<float, {n % 7}>(float*, float const*, int)" for n in range(200)]
CALLS = ("hipLaunchKernel", "hipMemcpyAsync", "hipGetLastError", "hipStreamSynchronize")
GUID = "0000aaaa-1111-7111-8111-000000000001"

Row = tuple[Any, ...]


def fill(connection: sqlite3.Connection, table: str, columns: str, rows: Iterator[Row] | list[Row]) -> None:
    """A table with these columns and rows."""
    connection.execute(f'CREATE TABLE "{table}" ({columns})')
    marks = ", ".join("?" * (columns.count(",") + 1))
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)


def write_rocpd(path: Path, rows: int) -> None:
    """Half of the rows are calls with three arguments each, the others kernels and every tenth a copy."""
    calls, suffix = rows // 2, "_" + GUID.replace("-", "_")
    tables = _rocpd_names() | {
        "event": (
            "id INTEGER PRIMARY KEY, category_id, stack_id, extdata",
            ((n + 1, 1 + (n >= calls), 1 + n % calls, "{}") for n in range(2 * calls)),
        ),
        "region": (
            "pid, tid, start INTEGER, end INTEGER, name_id, event_id, extdata",
            ((1, 1 + n % 2, 1000 * n, 1000 * n + 700, 4 + n % 4, 1 + n, "{}") for n in range(calls)),
        ),
        "arg": ("event_id, type, name, value", _arguments(calls)),
        "kernel_dispatch": (
            "pid, tid, agent_id, kernel_id, queue_id, stream_id, start INTEGER, end INTEGER, event_id",
            (
                (1, 1, 2, 1 + n % 200, 1, 1 + n % 2, 1000 * n + 800, 1000 * n + 1500, 1 + calls + n)
                for n in range(calls)
                if n % 10
            ),
        ),
        "memory_copy": (
            "pid, tid, start INTEGER, end INTEGER, name_id, dst_agent_id, src_agent_id, size, stream_id, "
            "event_id",
            (
                (1, 1, 1000 * n + 800, 1000 * n + 1500, 3, 1, 2, 4096, 2, 1 + calls + n)
                for n in range(0, calls, 10)
            ),
        ),
    }
    with sqlite3.connect(path) as connection:
        for table, (columns, each) in tables.items():
            fill(connection, f"rocpd_{table}{suffix}", columns, each)
    connection.close()


def _rocpd_names() -> dict[str, tuple[str, Iterator[Row] | list[Row]]]:
    """The small tables."""
    strings = ["HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH", "MEMORY_COPY_DEVICE_TO_HOST", *CALLS]
    return {
        "metadata": ("id, tag, value", [(1, "schema_version", "3")]),
        "string": ("id INTEGER PRIMARY KEY, string", list(enumerate(strings, 1))),
        "info_process": ("id INTEGER PRIMARY KEY, pid, command", [(1, 4001, "app")]),
        "info_thread": ("id INTEGER PRIMARY KEY, pid, tid", [(1, 1, 4001), (2, 1, 4002)]),
        "info_agent": ("id INTEGER PRIMARY KEY, type, absolute_index", [(1, "CPU", 0), (2, "GPU", 4)]),
        "info_stream": (
            "id INTEGER PRIMARY KEY, name, extdata",
            [(1, "Default Stream", "{}"), (2, "Stream 7", "{}")],
        ),
        "info_kernel_symbol": (
            "id INTEGER PRIMARY KEY, kernel_name, display_name",
            [(n, name, name) for n, name in enumerate(KERNELS, 1)],
        ),
    }


def _arguments(calls: int) -> Iterator[Row]:
    for n in range(calls):
        yield n + 1, "hipStream_t", "stream", "0x7f00" if n % 2 else "0x0"
        yield n + 1, "size_t", "sizeBytes", "4096"
        yield n + 1, "void*", "dst", hex(0x7F0000000000 + 256 * n)


def write_nsys(path: Path, rows: int) -> None:
    """Two fifths calls, two fifths kernels, one tenth copies, one tenth NVTX ranges."""
    owner, prefix = 1 << 48 | 500 << 24, "CUPTI_ACTIVITY_KIND_"
    calls, names = rows * 2 // 5, [f"cuda{name[3:]}_v7000" for name in CALLS] + KERNELS
    ops = "start INTEGER, end INTEGER, deviceId, contextId, streamId, correlationId, globalPid"
    with sqlite3.connect(path) as connection:
        fill(connection, "StringIds", "id INTEGER PRIMARY KEY, value", list(enumerate(names, 1)))
        fill(
            connection,
            prefix + "RUNTIME",
            "start INTEGER, end INTEGER, eventClass, globalTid, correlationId, nameId, returnValue",
            ((1000 * n, 1000 * n + 700, 0, owner + 501, 1 + n, 1 + n % 4, 0) for n in range(calls)),
        )
        fill(
            connection,
            prefix + "KERNEL",
            ops + ", demangledName, shortName",
            (
                (1000 * n + 800, 1000 * n + 1500, 0, 1, 7 + n % 2, 1 + n, owner, 5 + n % 200, 5)
                for n in range(calls)
            ),
        )
        fill(
            connection,
            prefix + "MEMCPY",
            ops + ", bytes, copyKind, srcKind, dstKind",
            (
                (4000 * n + 900, 4000 * n + 1700, 0, 1, 9, 2 + 4 * n, owner, 4096, 1, 1, 2)
                for n in range(rows // 10)
            ),
        )
        fill(
            connection,
            "NVTX_EVENTS",
            "start INTEGER, end INTEGER, eventType, globalTid, text, textId",
            (
                (4000 * n, 4000 * n + 3000, 59, owner + 501, f"layer {n % 64}", None)
                for n in range(rows // 10)
            ),
        )
    connection.close()


def write_csv(folder: Path, rows: int) -> None:
    """Half of the rows are calls, half kernels."""
    folder.mkdir()
    with (folder / "4001_hip_api_trace.csv").open("w", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        header = "Domain Function Process_Id Thread_Id Correlation_Id"
        out.writerow(f"{header} Start_Timestamp End_Timestamp".split())
        for n in range(rows // 2):
            at = 10**15 + 1000 * n
            out.writerow(("HIP_RUNTIME_API", CALLS[n % 4], 4001, 4001 + n % 2, n + 1, at, at + 700))
    with (folder / "4001_kernel_trace.csv").open("w", newline="") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        header = "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id"
        sizes = "LDS_Block_Size Scratch_Size VGPR_Count Workgroup_Size_X Grid_Size_X"
        out.writerow(f"{header} Start_Timestamp End_Timestamp {sizes}".split())
        for n in range(rows // 2):
            at, name = 10**15 + 1000 * n + 800, KERNELS[n % 200]
            cells = ("KERNEL_DISPATCH", "Agent 4", 1, 1 + n % 2, 4001, n, n % 200, name, n + 1)
            out.writerow((*cells, at, at + 700, 0, 0, 32, 256, 65536))


WRITERS: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "rocpd": ("4001_results.db", write_rocpd),
    "nsys": ("run.sqlite", write_nsys),
    "csv": ("csv", write_csv),
}


def plain_load(path: Path) -> object:
    """`load` by way of Python's sqlite3 or csv."""
    return _plainly(load, path)


def _plainly(read: Callable[[Path], object], path: Path) -> object:
    was = sqlite._SAME_LIBRARY, sqlite._FROM_PAGES, csv_reading._request
    try:
        sqlite._SAME_LIBRARY = sqlite._FROM_PAGES = False  # type: ignore[misc]
        csv_reading._request = lambda _: None
        return read(path)
    finally:
        sqlite._SAME_LIBRARY, sqlite._FROM_PAGES, csv_reading._request = was  # type: ignore[misc]


def pandas_read(path: Path) -> object:
    """The same tables as DataFrames, and nothing done with them."""
    import pandas as pd

    if path.is_dir():
        return [pd.read_csv(file) for file in sorted(path.iterdir())]
    connection = sqlite3.connect(path)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    frames = [pd.read_sql(f'SELECT * FROM "{table}"', connection) for (table,) in tables]
    connection.close()
    return frames


def polars_read(path: Path) -> object:
    """The files as polars tables."""
    import polars as pl

    return [pl.read_csv(file) for file in sorted(path.iterdir())]


READERS: dict[str, Callable[[Path], object]] = {
    "load": load,
    "plain": plain_load,
    "pandas": pandas_read,
    "polars": polars_read,
}


def seconds(read: Callable[[Path], object], path: Path) -> float:
    """How long one reading takes."""
    start = time.perf_counter()
    read(path)
    return time.perf_counter() - start


def growth(reader: str, path: Path) -> int:
    """Peak memory above that after the imports, in bytes, of a process that reads once."""
    code = (
        "import re, sys, runpy; from pathlib import Path\n"
        "names = runpy.run_path(sys.argv[1], run_name='bench')\n"
        "import numpy, pandas\n"
        "peak = lambda: int(re.search('VmHWM:\\\\s+(\\\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "before = peak(); kept = names['READERS'][sys.argv[2]](Path(sys.argv[3])); print(peak() - before)"
    )
    command = [sys.executable, "-c", code, __file__, reader, str(path)]
    return 1024 * int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(file.stat().st_size for file in path.iterdir()) if path.is_dir() else path.stat().st_size


def compare(name: str, rows: int, pairs: int) -> None:
    """Print one line per other reader."""
    file, write = WRITERS[name]
    path = OUT / str(rows) / file
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, rows)
    load(path)
    size = size_of(path)
    print(
        f"{name}: {rows} rows, {size / 1e6:.0f} MB; memory of load {growth('load', path) / size:.2f} x file"
    )
    for other in ("plain", "pandas", "polars") if path.is_dir() else ("plain", "pandas"):
        if find_spec(other) is None and other != "plain":
            continue
        ratios, own = [], []
        for _ in range(pairs):
            own.append(seconds(load, path))
            ratios.append(seconds(READERS[other], path) / own[-1])
        memory = growth(other, path) / size
        print(
            f"  {other}: {statistics.median(ratios):.1f} x the time of load ({min(ratios):.1f} to "
            f"{max(ratios):.1f}; load {statistics.median(own):.2f} s), memory {memory:.2f} x file"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(WRITERS), metavar="rocpd|nsys|csv")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    chosen = parser.parse_args()
    for name in chosen.names:
        compare(name, chosen.rows, chosen.pairs)


if __name__ == "__main__":
    main()
