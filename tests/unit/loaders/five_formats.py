"""The same calls and kernels, faults included, as each of the five formats would have them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.unit.loaders.nsys_file import CUPTI, global_id, write_export
from tests.unit.loaders.rocpd_file import GUID, write_tables
from tests.unit.loaders.rocpd_file import one_process as rocpd_process
from tests.unit.loaders.sdk_json import document, one_process
from tests.unit.loaders.sdk_json import kernel as sdk_kernel

__all__ = ["WRITERS", "Call", "Kernel", "Row", "csv_set", "write"]

KERNEL_HEADER = (
    "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"
)
CALL_HEADER = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
PROCESS, THREAD, DEVICE = 500, 501, 4
Rows = Sequence[Any]


@dataclass(frozen=True)
class Call:
    """`what`: LaunchKernel, DeviceSynchronize, ...: hip or cuda comes before it, as the format has it."""

    what: str
    start: int
    end: int
    link: int


@dataclass(frozen=True)
class Kernel:
    start: int
    end: int
    link: int
    name: str = "k(int)"
    stream: int | None = 7


Row = Call | Kernel


def calls_of(rows: Sequence[Row]) -> list[Call]:
    return [row for row in rows if isinstance(row, Call)]


def kernels_of(rows: Sequence[Row]) -> list[Kernel]:
    return [row for row in rows if isinstance(row, Kernel)]


def kineto(folder: Path, rows: Sequence[Row]) -> Path:
    events = []
    for row in rows:
        times = {"ts": us(row.start), "dur": us(row.end - row.start), "ph": "X"}
        if isinstance(row, Call):
            place = {"cat": "cuda_runtime", "name": f"cuda{row.what}", "pid": PROCESS, "tid": THREAD}
            events.append(times | place | {"args": {"correlation": row.link}})
        else:
            stream = {} if row.stream is None else {"stream": row.stream}
            args = {"correlation": row.link, "device": DEVICE, **stream}
            place = {"cat": "kernel", "name": row.name, "pid": DEVICE, "tid": "none", "args": args}
            events.append(times | place)
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def us(ns: int) -> str:
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def csv_set(folder: Path, rows: Sequence[Row]) -> Path:
    calls = [
        ("HIP_RUNTIME_API", f"hip{row.what}", PROCESS, THREAD, row.link, row.start, row.end)
        for row in calls_of(rows)
    ]
    kernels = [
        ("KERNEL_DISPATCH", f"Agent {DEVICE}", 1, blank(row.stream), THREAD, row.name, row.link)
        + (row.start, row.end)
        for row in kernels_of(rows)
    ]
    for name, header, table in (("hip_api", CALL_HEADER, calls), ("kernel", KERNEL_HEADER, kernels)):
        with (folder / f"{PROCESS}_{name}_trace.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header.split(","))
            writer.writerows(table)
    return folder / f"{PROCESS}_kernel_trace.csv"


def blank(number: int | None) -> object:
    return "" if number is None else number


def sdk_json(folder: Path, rows: Sequence[Row]) -> Path:
    names = sorted({f"hip{row.what}" for row in calls_of(rows)})
    calls = [
        {
            "size": 1, "kind": 1, "operation": names.index(f"hip{row.what}"), "thread_id": THREAD,
            "correlation_id": {"internal": row.link, "external": 0},
            "start_timestamp": row.start, "end_timestamp": row.end,
        }
        for row in calls_of(rows)
    ]  # fmt: skip
    kernels, symbols = [], []
    for at, row in enumerate(kernels_of(rows), 1):
        record = sdk_kernel(row.start, row.end, row.link, kernel_id=at, thread_id=THREAD)
        del record["stream_id"]
        stream = {} if row.stream is None else {"stream_id": {"handle": row.stream}}
        kernels.append(record | stream)
        symbols.append({"size": 1, "kernel_id": at, "formatted_kernel_name": row.name})
    process = one_process(PROCESS, hip_api=calls, kernel_dispatch=kernels, memory_copy=[])
    process["strings"]["buffer_records"][1]["operations"] = names
    process["kernel_symbols"] = symbols
    path = folder / f"{PROCESS}_results.json"
    path.write_text(json.dumps(document(process)))
    return path


def signed(number: int) -> int:
    """SQLite has no unsigned 64-bit numbers: what tools write there is the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def rocpd(folder: Path, rows: Sequence[Row]) -> Path:
    strings = ["HIP_RUNTIME_API_EXT", *sorted({f"hip{row.what}" for row in calls_of(rows)})]
    events, regions, kernels, symbols = [], [], [], []
    for number, row in enumerate(rows, 1):
        events.append({"id": number, "category_id": 1, "stack_id": signed(row.link), "extdata": "{}"})
        times = {"start": signed(row.start), "end": signed(row.end)}
        place = {"pid": 1, "tid": 1, **times, "event_id": number}
        if isinstance(row, Call):
            regions.append(place | {"name_id": 1 + strings.index(f"hip{row.what}"), "extdata": "{}"})
        else:
            symbols.append({"id": number, "kernel_name": row.name, "display_name": row.name})
            kernels.append(
                place | {"agent_id": 2, "kernel_id": number, "queue_id": 1, "stream_id": row.stream}
            )
    tables = rocpd_process(
        PROCESS,
        string=[{"id": n, "string": text} for n, text in enumerate(strings, 1)],
        event=events,
        region=regions,
        kernel_dispatch=kernels,
        info_kernel_symbol=symbols,
        info_stream=[{"id": 7, "name": "Stream 7", "extdata": "{}"}],
    )
    whole = {name: table for name, table in tables.items() if table and name not in ("memory_copy", "arg")}
    return write_tables(folder / "trace.db", GUID, whole)


def nsys(folder: Path, rows: Sequence[Row]) -> Path:
    calls = [
        {
            "start": signed(row.start), "end": signed(row.end), "correlationId": signed(row.link),
            "eventClass": 0, "globalTid": global_id(PROCESS, THREAD), "nameId": f"cuda{row.what}_v7000",
            "returnValue": 0,
        }
        for row in calls_of(rows)
    ]  # fmt: skip
    kernels = [
        {
            "start": signed(row.start), "end": signed(row.end), "correlationId": signed(row.link),
            "deviceId": DEVICE, "contextId": 1, "streamId": row.stream, "globalPid": global_id(PROCESS),
            "demangledName": row.name,
        }
        for row in kernels_of(rows)
    ]  # fmt: skip
    return write_export(folder / "trace.sqlite", {CUPTI + "RUNTIME": calls, CUPTI + "KERNEL": kernels})


WRITERS: dict[str, Callable[[Path, Sequence[Row]], Path]] = {
    "kineto": kineto,
    "rocprofv3-csv": csv_set,
    "rocprofv3-json": sdk_json,
    "rocpd": rocpd,
    "nsys": nsys,
}


def write(format_name: str, folder: Path, rows: Sequence[Row]) -> Path:
    """The path of a trace of these rows."""
    return WRITERS[format_name](folder, rows)
