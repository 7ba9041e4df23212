"""rocpd SQLite databases, schema 3.0: rocprofv3 of ROCm 7 and later, and this project's host captures.

Base tables only, no views. Integer ids restart in each GUID, so every join stays inside one GUID, which is
one `part` of the trace. Host calls and device ops are linked by `event.stack_id`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Findings, TraceBuilder
from overlap_lab.loaders.device_rows import class_blit_kernels, fill_copies_from_calls
from overlap_lab.loaders.rocpd_part import Part, Provenance
from overlap_lab.loaders.rocpd_tables import part_tables
from overlap_lab.loaders.sqlite_file import SQLITE, note_unmerged_log, read_only, tables_in
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, DEVICE_KINDS
from overlap_lab.trace import Source, Trace

__all__ = ["read_rocpd", "sniff_rocpd"]

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
    builder = TraceBuilder()
    provenance = Provenance()
    with read_only(path) as connection:
        for number, tables in enumerate(part_tables(connection)):
            Part(number, tables, builder, provenance, findings).read()
    note_unmerged_log(path, findings)
    rows = builder.columns()
    if not rows["kind"].size:
        raise BrokenTrace(
            f"{path}: no trace events; was any of --hip-trace, --kernel-trace, --memory-copy-trace on?"
        )
    class_blit_kernels(rows, builder.names(), findings)
    fill_copies_from_calls(rows)
    ops = np.isin(rows["kind"], DEVICE_KINDS)
    used: Sequence[int] = np.unique(rows["device"][ops]).tolist()
    devices = {number: provenance.devices.get(number, "") for number in used if number != ABSENT_DEVICE}
    host = any(name.startswith(_HOST_RUNTIME) for name in devices.values())
    source = Source(
        files=(str(path),),
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
