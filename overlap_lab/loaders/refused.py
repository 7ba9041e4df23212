"""Formats that are recognised and not read, each with the way out in one sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["ARROW", "SQLITE", "named_refusal", "refusal"]

ARROW: Final = b"ARROW1\0\0"
SQLITE: Final = b"SQLite format 3\0"

_PACKED: Final = {
    b"PK\x03\x04": "a zip archive; unpack it first",
}
_PERFETTO: Final = "a Perfetto trace; record with rocprofv3 -f rocpd, or use the .db file it came from"
_SUFFIXES: Final = {
    ".otf2": "an OTF2 archive has no correlation ids; record with rocprofv3 -f rocpd instead",
    ".nsys-rep": "an Nsight Systems report; convert it with: nsys export --type sqlite",
    ".qdrep": "an Nsight Systems report; convert it with: nsys export --type sqlite",
    ".pftrace": _PERFETTO,
    ".perfetto-trace": _PERFETTO,
}
_ROCPROF_V1: Final = "written by rocprof v1; record again with rocprofv3 -f rocpd"
_RPD: Final = "an RPD file (rocmProfileData), whose reader does not exist yet; record with rocprofv3 -f rocpd"
_TABLES: Final = {
    "rocpd_api rocpd_op": _RPD,
    "HIP HSA COPY OPS KERN": _ROCPROF_V1,
}
"""Any one of these tables -> what the file is."""
_EMPTY_FIRST_EVENT: Final = re.compile(rb'"traceEvents"\s*:\s*\[\s*\{\s*\}\s*,')
"""rocprof v1's mark; its events have categories that torch.profiler has not."""
_OURS: Final = re.compile(rb'\{\s*"schema"\s*:\s*"overlap_lab\.(\w+)/')
_REPORT: Final = (
    "a report that `overlap-lab analyze --json` wrote, which `compare` reads; give the trace that it is of"
)
_RESULT: Final = "a result of overlap_lab; give the trace that it is of"


def refusal(path: Path, start: bytes) -> str | None:
    """Why a recognised file is not read, and what to do; None where it may be readable.

    Raises BrokenTrace for a damaged database.
    """
    if not start:
        return "empty file; was the capture finished?"
    if start.startswith(SQLITE):
        return _sqlite(path)
    if start.startswith(ARROW):
        return _arrow(path, start)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return _json(text)
    header = start.split(b"\n", 1)[0]
    if b"KernelName" in header and b"BeginNs" in header:
        return _ROCPROF_V1
    packed = (why for magic, why in _PACKED.items() if start.startswith(magic))
    return next(packed, None) or named_refusal(path)


def named_refusal(path: Path) -> str | None:
    """What a file is, and what to do, where only its name says so; None for other names."""
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((why for suffix, why in _SUFFIXES.items() if name.endswith(suffix)), None)


def _arrow(path: Path, start: bytes) -> str | None:
    if not _starts_with(path, ARROW):
        return "a compressed Arrow file; unpack it first: gunzip FILE, or unzstd FILE"
    from overlap_lab.loaders.arrow import sniff_arrow

    if sniff_arrow(path, start):
        return None
    return "an Arrow file without a trace of overlap_lab; give what Trace.save wrote, or the original trace"


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _json(text: bytes) -> str | None:
    ours = _OURS.match(text)
    if ours is not None:
        return _REPORT if ours[1] == b"report" else _RESULT
    return _ROCPROF_V1 if _EMPTY_FIRST_EVENT.search(text) else None


def _sqlite(path: Path) -> str | None:
    if not _starts_with(path, SQLITE):
        return "a compressed database; unpack it first: gunzip FILE, or unzstd FILE"
    from overlap_lab.loaders.nsys import is_nsys_table
    from overlap_lab.loaders.sqlite_file import read_only, tables_in

    with read_only(path) as connection:
        tables = set(tables_in(connection))
    if any(table.startswith("rocpd_info_process") or is_nsys_table(table) for table in tables):
        return None
    known = (why for marks, why in _TABLES.items() if tables & set(marks.split()))
    return next(
        known, "an SQLite file without trace tables; give what rocprofv3 -f rocpd or nsys export wrote"
    )
