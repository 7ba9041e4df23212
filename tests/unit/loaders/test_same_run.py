"""One run gives one set of numbers, whatever format it was written in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overlap_lab.analyze import analyze
from overlap_lab.loaders import load
from overlap_lab.schema import ABSENT, Api, CopyKind, Kind, Memory
from overlap_lab.trace import Trace, columns_of
from tests.unit.loaders.nsys_file import CUPTI, NONE, event, global_id, sync, write_export
from tests.unit.loaders.sdk_json import document

CASES = Path(__file__).parents[2] / "cases" / "data"
CUDA = ["01_item_sync_loop", "06_cuda_sync_rows", "20_correlation_ids", "25_dataloader_or_sync"]
AMD = ["02_fmha_bwd_sync_vs_async/sync", "02_fmha_bwd_sync_vs_async/async", "22_rocpd_one_process"]
AMD += ["09_null_stream_copy", "23_csv_headers/7.0"]
SYNC_TYPES = {Api.EVENT_SYNC: 1, Api.STREAM_WAIT_EVENT: 2, Api.STREAM_SYNC: 3}
OPERATIONS = {
    CopyKind.HOST_TO_DEVICE: "MEMORY_COPY_HOST_TO_DEVICE",
    CopyKind.DEVICE_TO_HOST: "MEMORY_COPY_DEVICE_TO_HOST",
    CopyKind.DEVICE_TO_DEVICE: "MEMORY_COPY_DEVICE_TO_DEVICE",
}
Row = dict[str, Any]


def rows_of(trace: Trace) -> list[Row]:
    columns = {name: column.tolist() for name, column in columns_of(trace).items()}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return [{**row, "text": trace.name_of(at)} for at, row in enumerate(rows)]


def numbers(trace: Trace) -> dict[tuple[str, str], object]:
    report = analyze(trace)
    return {(each.tag, str(sorted(each.scope.items()))): each.value for each in report.measurements}


def case(name: str) -> Path:
    named = [CASES / name / file for file in ("trace.json", "one_results.db")]
    return next((path for path in named if path.exists()), CASES / name)


def as_nsys(path: Path, trace: Trace) -> Path:
    apis = {row["correlation"]: row["api"] for row in rows_of(trace) if row["kind"] == Kind.API}
    tables: dict[str, list[Row]] = {}
    for row in rows_of(trace):
        shared = {"start": row["start_ns"], "end": row["end_ns"], "correlationId": row["correlation"]}
        thread = {"globalTid": global_id(row["process"], row["thread"] % (1 << 24))}
        placed = {"deviceId": row["device"], "contextId": 1 + row["device"], "streamId": row["stream"]}
        op = {**shared, **placed, "globalPid": global_id(row["process"]), "bytes": row["bytes"]}
        if row["kind"] == Kind.API:
            add(tables, "RUNTIME", {**shared, **thread, "nameId": row["text"] + "_v7000"})
        elif row["kind"] == Kind.KERNEL:
            add(tables, "KERNEL", {**op, "demangledName": row["text"]})
        elif row["kind"] == Kind.MEMCPY:
            add(tables, "MEMCPY", {**op, **copy_sides(row)})
        elif row["kind"] == Kind.MEMSET:
            add(tables, "MEMSET", op)
        elif row["kind"] == Kind.SYNC:
            add_sync(tables, row, apis.get(row["correlation"], Api.OTHER))
    return write_export(path, tables)


def add(tables: dict[str, list[Row]], activity: str, row: Row) -> None:
    tables.setdefault(CUPTI + activity, []).append(row)


def copy_sides(row: Row) -> Row:
    kind = {CopyKind.HOST_TO_DEVICE: 1, CopyKind.DEVICE_TO_HOST: 2, CopyKind.DEVICE_TO_DEVICE: 8}[
        row["copy_kind"]
    ]
    host = {Memory.PAGEABLE: 0, Memory.PINNED: 1, Memory.UNKNOWN: 7}[row["memory"]]
    sides = {1: (host, 2), 2: (2, host), 8: (2, 2)}[kind]
    return {"copyKind": kind, "srcKind": sides[0], "dstKind": sides[1]}


def add_sync(tables: dict[str, list[Row]], row: Row, api: int) -> None:
    pid = {"globalPid": global_id(row["process"])}
    stream = NONE if row["stream"] == ABSENT else row["stream"]
    record = row["wait_correlation"]
    more = {**pid, "streamId": stream, "contextId": NONE, "eventId": record or NONE, "eventSyncId": record}
    add(
        tables,
        "SYNCHRONIZATION",
        sync(row["start_ns"], row["end_ns"], row["correlation"], SYNC_TYPES.get(Api(api), 4), **more),
    )
    if record:
        add(tables, "CUDA_EVENT", event(record, record, record, **pid, streamId=stream, contextId=NONE))


def as_sdk_json(path: Path, trace: Trace) -> Path:
    names = sorted({row["text"] for row in rows_of(trace) if row["kind"] == Kind.API})
    copies = list(OPERATIONS.values())
    kernels: list[str] = []
    lists: dict[str, list[Row]] = {"kernel_dispatch": [], "hip_api": [], "memory_copy": []}
    for row in rows_of(trace):
        record = {
            "size": 1, "thread_id": row["thread"], "correlation_id": {"internal": row["correlation"]},
            "start_timestamp": row["start_ns"], "end_timestamp": row["end_ns"],
        }  # fmt: skip
        agent = {"handle": 900 + row["device"]}
        stream = {} if row["stream"] == ABSENT else {"stream_id": {"handle": row["stream"]}}
        if row["kind"] == Kind.API:
            record |= {"kind": 0, "operation": names.index(row["text"])} | stream
            lists["hip_api"].append(record)
        elif row["kind"] in (Kind.KERNEL, Kind.MEMSET):  # the runtime's fill kernels are memsets
            kernels.append(row["text"])
            queue = {"handle": row["queue"]}
            info = {"agent_id": agent, "queue_id": queue, "kernel_id": len(kernels) - 1}
            lists["kernel_dispatch"].append(record | stream | {"dispatch_info": info})
        elif row["kind"] == Kind.MEMCPY:
            ends = [agent, {"handle": 899}]
            source, target = ends[::-1] if row["copy_kind"] == CopyKind.HOST_TO_DEVICE else ends
            record |= {"kind": 1, "operation": copies.index(OPERATIONS[row["copy_kind"]])} | stream
            lists["memory_copy"].append(record | {"src_agent_id": source, "dst_agent_id": target})
    process = {
        "metadata": {"pid": int(trace.process[0])},
        "agents": [{"id": {"handle": 900 + n}, "type": 2, "node_id": n} for n in range(8)],
        "strings": {
            "buffer_records": [{"kind": "HIP", "operations": names}, {"kind": "COPY", "operations": copies}]
        },
        "kernel_symbols": [{"kernel_id": n, "formatted_kernel_name": name} for n, name in enumerate(kernels)],
        "buffer_records": lists,
    }
    path.write_text(json.dumps(document(process)))
    return path


@pytest.mark.parametrize(
    ("name", "written"), [(name, as_nsys) for name in CUDA] + [(name, as_sdk_json) for name in AMD]
)
def test_a_run_in_another_format_has_the_same_numbers(
    tmp_path: Path, name: str, written: Callable[[Path, Trace], Path]
) -> None:
    trace = load(case(name))
    again = load(written(tmp_path / "again", trace))
    assert numbers(again) == numbers(trace)
