"""rocprofv3 CSV read by Python's `csv`, which takes everything; broken rows are skipped and counted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.alike import Coded
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.content import plain_bytes
from overlap_lab.loaders.csv_table import TIMES, TRACE_KINDS, Table, TableKind, header_kind
from overlap_lab.schema import Fault

__all__ = ["count_lost", "read_plainly"]

_INT64_END: Final = 1 << 63
_FIELD_LIMIT: Final = 16 << 20


def read_plainly(path: Path, findings: Findings) -> Table:
    """The file's rows. Raises BrokenTrace for a file without a header, and for fields that are too large."""
    content = plain_bytes(path)
    text = content.decode("utf-8-sig", "replace")
    lines = _rows(path, text)
    header = [name.strip().lower() for name in next(lines, [])]
    if not any(header):
        raise BrokenTrace(f"{path}: empty file")
    kind = header_kind(header)
    if len(set(header)) < len(header):
        findings.count(Fault.ROWS_REPAIRED)
        findings.note(f"{path.name}: of columns with one name the last counts.")
    rows = [row for row in lines if row]
    good = [row for row in rows if len(row) == len(header)]
    if kind is TableKind.AGENTS:
        count_lost(path, len(rows) - len(good), False, findings)
    if kind in TRACE_KINDS:
        place = {name: at for at, name in enumerate(header)}
        times = place[TIMES[0]], place[TIMES[1]]
        good = [row for row in good if _is_time(row[times[0]]) and _is_time(row[times[1]])]
        cut = bool(rows) and not text.endswith(("\n", "\r"))
        if cut and good and rows[-1] is good[-1] and int(good[-1][times[1]]) < int(good[-1][times[0]]):
            good.pop()  # the last number lost its last digits
        cut = cut and (not good or rows[-1] is not good[-1])
        count_lost(path, len(rows) - len(good), cut, findings)
    columns = dict.fromkeys(header, Coded.of(()))
    columns |= {name: Coded.of(cells) for name, cells in zip(header, zip(*good, strict=True), strict=False)}
    if "\ufffd" in text and "\ufffd".encode() not in content:
        broken = sum(any("\ufffd" in value for value in row) for row in good)
        findings.count(Fault.ROWS_REPAIRED, broken)
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced in {broken} rows.")
    return Table(path, kind, columns, len(good))


def _rows(path: Path, text: str) -> Iterator[list[str]]:
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        yield from reader
    except csv.Error as error:
        raise BrokenTrace(f"{path}: line {reader.line_num}: {error}") from None


def count_lost(path: Path, lost: int, cut: bool, findings: Findings) -> None:
    """Count rows of the wrong length or without times; a cut-off last line is a truncation."""
    if cut:
        findings.count(Fault.TRUNCATED)
        findings.note(f"{path.name} is cut off inside its last line.")
    if lost > cut:
        findings.count(Fault.ROWS_SKIPPED, lost - cut)
        findings.note(f"{path.name}: {lost - cut} rows of the wrong length or without times were skipped.")


def _is_time(value: str) -> bool:
    return len(value) < 24 and value.strip(" \t").isdecimal() and int(value) < _INT64_END
