"""rocpd SQLite databases, schema 3.0: rocprofv3 of ROCm 7 and later, and this project's host captures.

Base tables only, no views. Integer ids restart in each GUID, so every join stays inside one GUID, which is
one `part` of the trace. Host calls and device ops are linked by `event.stack_id`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.errors import BrokenTrace, UnknownFormat
from overlap_lab.loaders.building import Findings, TraceBuilder
from overlap_lab.loaders.device_rows import class_blit_kernels, fill_copies_from_calls
from overlap_lab.loaders.rocpd_columns import large_tables
from overlap_lab.loaders.rocpd_part import Provenance
from overlap_lab.loaders.rocpd_rows import ColumnPart
from overlap_lab.loaders.rocpd_tables import GuidTables, part_tables
from overlap_lab.loaders.sqlite_columns import TableColumns
from overlap_lab.loaders.sqlite_file import (
    SQLITE,
    note_faulty,
    note_unmerged_log,
    read_only,
    tables_in,
    tell_replaced,
)
from overlap_lab.loaders.sqlite_stored import Queries
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, DEVICE_KINDS
from overlap_lab.trace import Source, Trace

__all__ = ["connection_of", "read_rocpd", "read_rocpd_connection", "sniff_rocpd"]

_HOST_RUNTIME: Final = "HIP host runtime"


def sniff_rocpd(path: Path, start: bytes) -> bool:
    """True for SQLite with rocpd's process table."""
    if not start.startswith(SQLITE):
        return False
    try:
        with read_only(path) as connection:
            return any(name.startswith("rocpd_info_process") for name in tables_in(connection))
    except BrokenTrace:
        return False


def read_rocpd(path: Path) -> Trace:
    """The trace in a rocpd database; several GUIDs become several parts."""
    findings = Findings()
    note_unmerged_log(path, findings)
    with read_only(path) as connection:
        return _trace(part_tables(connection), (str(path),), findings, (path, connection))


def connection_of(source: object) -> Queries | None:
    """What queries of a source go to: itself, or its `connection`; None for anything that takes none.

    The `rocpd` package is part of ROCm and not on PyPI, so its objects are told by what they can do.
    """
    for taker in (source, getattr(source, "connection", None)):
        if callable(getattr(taker, "execute", None)):
            return taker  # type: ignore[return-value]
    return None


def read_rocpd_connection(connection: Queries) -> Trace:
    """The trace behind an open connection to rocpd databases, or a `RocpdImportData` of the `rocpd` package.

    Temporary views come before tables, so that several databases, and a window of time set with `rocpd`, are
    read as that package shows them. Nothing is written, and the connection stays open.
    """
    try:
        databases = [(str(row[1]), str(row[2] or "")) for row in connection.execute("PRAGMA database_list")]
        attached = [name for name, _ in databases if name != "temp"]
        parts = list(part_tables(connection, schemas=("temp",)))
        parts = parts or list(part_tables(connection, schemas=attached))
        if not parts:
            raise UnknownFormat("the connection holds no rocpd tables; open what rocprofv3 -f rocpd wrote")
        return _trace(parts, tuple(file for _, file in databases if file), Findings())
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise BrokenTrace(f"rocpd connection: cannot be read ({error})") from None


def _add(part: ColumnPart, large: dict[str, TableColumns] | None) -> None:
    """Add the rows of a part; its columns are given back then."""
    if large is None:
        part.read()
    else:
        part.read_columns(large)


def _trace(
    parts: Iterable[GuidTables],
    files: tuple[str, ...],
    findings: Findings,
    file: tuple[Path, sqlite3.Connection] | None = None,
) -> Trace:
    """The trace of these parts; `file` is the one that holds them, where there is one."""
    builder = TraceBuilder()
    provenance = Provenance()
    for number, tables in enumerate(parts):
        large = large_tables(file[0], tables) if file else None
        if file and large:
            note_faulty(file[1], *(columns.faulty for columns in large.values()))
        _add(ColumnPart(number, tables, builder, provenance, findings), large)
    if file:
        tell_replaced(file[1], file[0], findings)
    rows = builder.ordered()
    if not rows["kind"].size:
        raise BrokenTrace(
            f"{', '.join(files) or 'rocpd connection'}: no trace events; was any of --hip-trace, "
            "--kernel-trace, --memory-copy-trace on?"
        )
    class_blit_kernels(rows, builder.names(), findings)
    fill_copies_from_calls(rows)
    ops = np.isin(rows["kind"], DEVICE_KINDS)
    used: Sequence[int] = np.unique(rows["device"][ops]).tolist()
    devices = {number: provenance.devices.get(number, "") for number in used if number != ABSENT_DEVICE}
    host = any(name.startswith(_HOST_RUNTIME) for name in devices.values())
    source = Source(
        files=files,
        format="rocpd",
        vendor="host" if host else "amd",
        tool="overlap_lab.capture.host" if host else "rocprofiler-sdk",
        clock="boottime",
        devices=devices,
        processes=provenance.processes,
        null_streams=frozenset(provenance.null_streams - {ABSENT}),
        nonblocking_streams=frozenset(provenance.nonblocking_streams),
        metadata=provenance.metadata,
        faults=findings.faults,
        notes=tuple(findings.notes),
    )
    return builder.build(rows, source)
