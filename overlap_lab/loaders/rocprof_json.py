"""rocprofv3 JSON (`-f json`, `*_results.json`), of every release from 6.2 on.

Kinds and operations are numbers that differ between releases; the file's own `strings` say what they are.
Devices have the absolute numbers of the agents (`node_id`), as in rocpd databases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Columns, Findings, TraceBuilder
from overlap_lab.loaders.content import plain_bytes
from overlap_lab.loaders.device_rows import class_blit_kernels, fill_copies_from_calls, own
from overlap_lab.loaders.rocprof_json_columns import ProcessColumns
from overlap_lab.loaders.rocprof_json_names import ProcessNames, mapping, shortened
from overlap_lab.loaders.rocprof_json_part import ProcessRecords
from overlap_lab.loaders.rocprof_json_read import read_columns
from overlap_lab.loaders.rocprof_json_text import ROOT_KEY, read_processes
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, ABSENT_PROCESS, DEVICE_KINDS
from overlap_lab.trace import Source, Trace

__all__ = ["read_rocprof_json", "sniff_rocprof_json"]

_SIGN: Final = re.compile(rb'\s*\{\s*"' + ROOT_KEY.encode() + rb'"\s*:')
_PID_IN_NAME: Final = re.compile(r"(?:^|_)(\d{1,9})_results\.json")


def sniff_rocprof_json(_path: Path, start: bytes) -> bool:
    """True for JSON whose first key is the tool's."""
    return bool(_SIGN.match(start.removeprefix(b"\xef\xbb\xbf")))


def read_rocprof_json(path: Path) -> Trace:
    """The trace in a file, plain or packed; several processes become several parts."""
    findings, builder = Findings(), TraceBuilder()
    parts = _processes(path, builder, findings)
    for part in parts:
        part.add()
    rows = builder.ordered()
    if not rows["kind"].size:
        passed = shortened(sorted({name for part in parts for name in part.passed_over}))
        raise BrokenTrace(
            f"{path}: no trace events{f' (only {passed})' if passed else ''}; record with "
            "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace"
        )
    _name_process(path, rows, findings)
    class_blit_kernels(rows, builder.names(), findings)
    fill_copies_from_calls(rows)
    return builder.build(rows, _source(path, [part.names for part in parts], rows, findings))


def _processes(
    path: Path, builder: TraceBuilder, findings: Findings
) -> Sequence[ProcessColumns | ProcessRecords]:
    read = read_columns(path)
    if read is not None:
        return [ProcessColumns(*numbered, builder, findings) for numbered in enumerate(read)]
    objects = read_processes(path, plain_bytes(path), findings)
    return [ProcessRecords(*numbered, builder, findings) for numbered in enumerate(objects)]


def _name_process(path: Path, rows: Columns, findings: Findings) -> None:
    unknown = rows["process"] == ABSENT_PROCESS
    found = _PID_IN_NAME.search(path.name)
    if unknown.all() and found:
        own(rows, "process")[unknown] = int(found[1])
        findings.note(f"The process id {found[1]} is taken from the file name.")


def _source(path: Path, parts: list[ProcessNames], rows: Columns, findings: Findings) -> Source:
    names: dict[int, str] = {}
    processes: dict[int, str] = {}
    for part in parts:
        names |= part.device_names
        if part.pid != ABSENT_PROCESS:
            processes[part.pid] = _command(part.metadata)
    used = np.unique(rows["device"][np.isin(rows["kind"], DEVICE_KINDS)]).tolist()
    tracked = bool((rows["stream"] != ABSENT).any())
    return Source(
        files=(str(path),),
        format="rocprofv3-json",
        vendor="amd",
        tool="rocprofv3",
        clock="boottime",
        devices={device: names.get(device, "") for device in used if device != ABSENT_DEVICE},
        processes=processes,
        null_streams=frozenset({0} if tracked else ()),
        faults=findings.faults,
        notes=tuple(findings.notes),
    )


def _command(metadata: dict[str, Any]) -> str:
    command = metadata.get("command")
    if isinstance(command, list):
        return " ".join(map(str, command))
    return str(mapping(command).get("command", command) or "") if command else ""
