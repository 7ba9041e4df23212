"""SQLite exports of Nsight Systems (`nsys export --type sqlite`), old schemas and new.

Times are ns from the start of the session. Runtime and driver calls lie in one table, and a call's name
carries a version suffix, which is dropped. Numbers are read by the file's own ENUM tables.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.alike import CodedNumbers, gathered
from overlap_lab.loaders.api_names import api_codes, copy_directions, plain_name
from overlap_lab.loaders.building import Block, Columns, Findings, GatheredRows, TraceBuilder
from overlap_lab.loaders.device_rows import adopt_processes, fill_copies_from_calls
from overlap_lab.loaders.nsys_ops import add_ops, correlations
from overlap_lab.loaders.nsys_ranges import add_ranges
from overlap_lab.loaders.nsys_sync import add_syncs
from overlap_lab.loaders.nsys_tables import NsysTables
from overlap_lab.loaders.nsys_target import UNKNOWN_MACHINE, Target, owners, owners_of, stream_kinds
from overlap_lab.loaders.sqlite_file import SQLITE, note_unmerged_log, read_only, tables_in
from overlap_lab.native import distinct_numbers
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, COLUMNS, DEVICE_KINDS, Fault, Kind
from overlap_lab.trace import Column, Source, Trace, constant

__all__ = ["is_nsys_table", "read_nsys", "sniff_nsys"]

_OWN_TABLES: Final = ("StringIds", "TARGET_INFO_GPU", "TARGET_INFO_SESSION_START_TIME", "NVTX_EVENTS")
_CALL_TABLES: Final = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER")
_OVERHEAD_TABLES: Final = ("CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD")
_KEPT: Final = ("EXPORT_SCHEMA_VERSION", "CUDA_SKIP_SOME_API_CALLS")
_LOSS: Final = re.compile(r"not all .*collected|\bdropped\b|\blost\b|\bdiscarded\b", re.IGNORECASE)


def is_nsys_table(name: str) -> bool:
    """Whether only Nsight Systems has a table of this name."""
    return name.startswith("CUPTI_ACTIVITY_KIND_") or name in _OWN_TABLES


def sniff_nsys(path: Path, start: bytes) -> bool:
    """True for SQLite with a table of Nsight Systems'."""
    if not start.startswith(SQLITE):
        return False
    try:
        with read_only(path) as connection:
            return any(map(is_nsys_table, tables_in(connection)))
    except BrokenTrace:
        return False


def read_nsys(path: Path) -> Trace:
    """The trace in an export; all its processes in one trace."""
    findings, builder = Findings(), TraceBuilder()
    with read_only(path) as connection:
        tables = NsysTables(connection, path)
        target = Target(tables, findings)
        add_ops(tables, target, builder, findings)
        calls, names = _calls(tables, builder)
        add_syncs(tables, target, calls, builder, findings)
        builder.add_timed(Kind.API, names, calls, findings)
        _add_overhead(tables, builder, findings)
        add_ranges(tables, builder, findings, last_ns=builder.last_ns())
        rows = builder.ordered()
        if not rows["kind"].size:
            raise BrokenTrace(f"{path}: no CUDA or NVTX events; record with nsys profile --trace=cuda,nvtx")
        note_unmerged_log(path, findings)
        _complete(rows, findings)
        _note_losses(tables, findings)
        source = _source(path, tables, target, rows, findings)
    return builder.build(rows, source)


def _calls(tables: NsysTables, builder: TraceBuilder) -> tuple[Columns, Column]:
    """The columns and name codes of all runtime and driver calls, to be added when they are complete."""
    found: list[Columns] = []
    for table in _CALL_TABLES:
        rows = tables.columns(table, ("start", "end", "correlationId"), ("globalTid", "nameId"))
        texts, place = tables.names(rows.few["nameId"], "call")
        plain = [plain_name(text) for text in texts]
        found.append(
            {
                "start_ns": rows["start"],
                "end_ns": rows["end"],
                "correlation": correlations(rows["correlationId"]),
                "name": gathered(builder.interned(plain), place),
                "api": gathered(api_codes(plain), place),
                "copy_kind": gathered(copy_directions(plain), place),
                "stream": np.full(rows.rows, ABSENT),
                "device": np.full(rows.rows, ABSENT_DEVICE, np.int16),
                **{name: owner.column() for name, owner in owners_of(rows.few["globalTid"]).items()},
            }
        )
    some = [each for each in found if len(each["name"])] or found[:1]
    columns = some[0]
    if len(some) > 1:
        columns = {name: np.concatenate([each[name] for each in some]) for name in columns}
    return columns, columns.pop("name")


def _add_overhead(tables: NsysTables, builder: TraceBuilder, findings: Findings) -> None:
    for table in _OVERHEAD_TABLES:
        rows = tables.columns(table, ("start", "end"), ("globalTid", "nameId"))
        texts, place = tables.names(rows.few["nameId"], "overhead")
        columns: dict[str, Block] = {"start_ns": rows["start"], "end_ns": rows["end"]}
        columns |= owners_of(rows.few["globalTid"])
        builder.add_timed(Kind.OVERHEAD, CodedNumbers(place, builder.interned(texts)), columns, findings)


def _complete(rows: GatheredRows, findings: Findings) -> None:
    """Fill in, in place, what other rows know; give machines dense part numbers."""
    seen = rows.distinct("part")
    machines = np.sort(seen[seen != UNKNOWN_MACHINE])
    if seen.size == 1:
        rows["part"] = constant(0, len(rows["kind"]), COLUMNS["part"])
    else:
        rows["part"] = np.searchsorted(machines, rows["part"]).astype(np.int32)
    if machines.size > 1:
        findings.note(f"{machines.size} machines in one file: rows of different machines never link.")
    if ABSENT_PROCESS in rows.distinct("process"):
        adopt_processes(rows, rows["device"].astype(np.int64))
    fill_copies_from_calls(rows)


def _source(path: Path, tables: NsysTables, target: Target, rows: GatheredRows, findings: Findings) -> Source:
    process, stream = (rows.added_as((*DEVICE_KINDS, Kind.SYNC), name) for name in ("process", "stream"))
    null, free = stream_kinds(tables, process, stream, findings)
    said: dict[str, str] = {}
    for table in ("META_DATA_EXPORT", "META_DATA_CAPTURE"):
        said |= dict(zip(*tables.texts(table, "name", "value"), strict=True))
    metadata = {key.lower(): said[key] for key in _KEPT if key in said}
    [started] = tables.integers("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")
    if started.size and started[0] != ABSENT:
        metadata["session_start_utc_ns"] = str(started[0])
    processes = _processes(tables, rows)
    tables.tell_replaced(findings)
    return Source(
        files=(str(path),),
        format="nsys",
        vendor="nvidia",
        tool=" ".join(["Nsight Systems", said.get("EXPORT_PRODUCT_VERSION", "")]).strip(),
        clock="nsys-session",
        devices=target.named(distinct_numbers(rows.added_as(DEVICE_KINDS, "device"))),
        processes=processes,
        null_streams=null,
        nonblocking_streams=free,
        metadata=metadata,
        faults=findings.faults,
        notes=tuple(findings.notes),
    )


def _processes(tables: NsysTables, rows: GatheredRows) -> dict[int, str]:
    used = set(rows.distinct("process").tolist()) - {ABSENT_PROCESS}
    pids = owners(tables.integers("PROCESSES", "globalPid")[0])["process"].tolist()
    [names] = tables.texts("PROCESSES", "name")
    return {pid: name for pid, name in zip(pids, names, strict=True) if pid in used}


def _note_losses(tables: NsysTables, findings: Findings) -> None:
    """What the tool itself says it did not record."""
    [texts] = tables.texts("DIAGNOSTIC_EVENT", "text")
    lost = sorted({" ".join(text[:1000].split())[:200] for text in texts if _LOSS.search(text[:1000])})
    for text in lost[:8]:
        findings.count(Fault.TRUNCATED)
        findings.note(f"Nsight Systems says: {text}")
