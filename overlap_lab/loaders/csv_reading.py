"""rocprofv3 CSV files as tables: by the compiled core, several files and parts of files at once."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.errors import InputError, MissingDependency
from overlap_lab.loaders.ahead import pieces_ahead
from overlap_lab.loaders.alike import Coded
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.content import head, opened
from overlap_lab.loaders.csv_plain import count_lost, read_plainly
from overlap_lab.loaders.csv_table import TIMES, TRACE_KINDS, Numbers, Table, TableKind, header_kind
from overlap_lab.loaders.packed import is_gzip, is_packed
from overlap_lab.native import CsvReader, Field, csv_header, read_csv_files

__all__ = ["read_tables"]

_PART: Final = 32 << 20
"""Bytes that a thread reads before it takes the next part."""
_FIELDS: Final = {
    **dict.fromkeys(TIMES, Field.TIME),
    **dict.fromkeys(("process_id", "thread_id", "correlation_id", "stream_id", "queue_id"), Field.INTEGER),
    **dict.fromkeys(("guid", "domain", "function", "kernel_name", "direction", "name"), Field.TEXT),
    **dict.fromkeys(("agent_id", "source_agent_id", "destination_agent_id"), Field.TEXT),
}
"""The columns that the trace takes."""

_Parts = list[tuple[list[Any], int, int, bool]]


@dataclass(frozen=True, slots=True)
class _Request:
    """A file whose header is known."""

    path: Path
    kind: TableKind
    header: list[str]
    begin: int
    """Bytes before its records."""
    packed: bool

    @property
    def fields(self) -> list[Field]:
        """How each column is read; of files that hold no trace none is."""
        wanted = _FIELDS if self.kind in TRACE_KINDS else {}
        return [wanted.get(name, Field.SKIPPED) for name in self.header]


def read_tables(files: Sequence[Path], findings: Findings) -> list[list[Table]]:
    """For each file the parts in which its rows were read, one or more. Raises BrokenTrace for no header."""
    requests = [_request(path) for path in files]
    found = _read(requests)
    tables = []
    for path, request in zip(files, requests, strict=True):
        read = found.pop(path, None)
        if request is None or read is None:
            tables.append([read_plainly(path, findings)])
        else:
            tables.append(_tables(request, *read, findings))
    return tables


def _request(path: Path) -> _Request | None:
    """What the compiled core needs to know; None for what only `csv` can judge, and for lists of agents."""
    try:
        start = head(path)
        with path.open("rb") as file:
            packed = is_packed(file.read(4))
    except (InputError, MissingDependency, OSError):
        return None
    mark = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    names, size, closed = csv_header(start[mark:])
    line = start[mark : mark + size]
    header = [name.strip().lower() for name in names]
    kind = header_kind(header)
    if not closed or b"\0" in line or not _is_utf8(line) or kind is TableKind.AGENTS:
        return None
    if not any(header) or len(set(header)) < len(header):
        return None
    return _Request(path, kind, header, mark + size, packed)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read(requests: Sequence[_Request | None]) -> dict[Path, tuple[_Parts, bool]]:
    """The parts of each file, and whether its last line is whole; none of files that `csv` must read."""
    known = [request for request in requests if request is not None]
    plain = [request for request in known if not request.packed]
    wanted = [(os.fsencode(request.path), request.begin, request.fields) for request in plain]
    read = read_csv_files(wanted, _PART)
    found = {request.path: parts for request, parts in zip(plain, read, strict=True) if parts[0]}
    for request in known:
        if request.packed:
            unpacked = _read_packed(request)
            if unpacked is not None:
                found[request.path] = unpacked
    return found


def _read_packed(request: _Request) -> tuple[_Parts, bool] | None:
    reader, skipped = CsvReader(request.fields), request.begin
    if is_gzip(request.path):
        with request.path.open("rb") as file:
            read = reader.read_gzip(file.fileno(), request.begin)
        return ([reader.part()], reader.ends_line) if read else None
    with opened(request.path) as stream:
        for piece in pieces_ahead(stream):
            text, skipped = piece[skipped:], max(skipped - len(piece), 0)
            if not reader.read(text, last=False):
                return None
    if not reader.read(b"", last=True):
        return None
    return [reader.part()], reader.ends_line


def _tables(request: _Request, parts: _Parts, ends_line: bool, findings: Findings) -> list[Table]:
    """The tables of the parts; what they lost is counted."""
    parts = [part for part in parts if part[1]] or parts[:1]
    seen, last_kept = sum(part[1] for part in parts), parts[-1][3]
    tables = [_table(request, columns, kept) for columns, _, kept, _ in parts]
    if request.kind in TRACE_KINDS:
        cut = seen > 0 and not ends_line
        if cut and last_kept and _ends_before_it_starts(tables[-1]):  # the last number lost its last digits
            tables[-1], last_kept = tables[-1].until(tables[-1].size - 1), False
        lost = seen - sum(table.size for table in tables)
        count_lost(request.path, lost, cut and not last_kept, findings)
    return tables


def _table(request: _Request, columns: list[Any], size: int) -> Table:
    named = {name: _column(read) for name, read in zip(request.header, columns, strict=True)}
    return Table(request.path, request.kind, named, size)


def _column(read: Any) -> Coded | Numbers:
    if read is None:
        return Coded(np.zeros(0, np.int32), [])
    if len(read) == 2:
        return Coded(*read)
    values, odd_rows, odd = read
    return Numbers(values, odd_rows, Coded(*odd))


def _ends_before_it_starts(table: Table) -> bool:
    start, end = (table.integers(name)[-1] for name in TIMES)
    return bool(end < start)
