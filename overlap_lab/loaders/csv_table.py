"""One rocprofv3 CSV file as columns by lower-case header name; broken rows are skipped and counted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.content import plain_bytes
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Fault
from overlap_lab.trace import Column

__all__ = ["TRACE_KINDS", "Table", "TableKind", "header_kind", "read_table"]

_INT64_END: Final = 1 << 63
_FIELD_LIMIT: Final = 16 << 20
_TIMES: Final = ("start_timestamp", "end_timestamp")


class TableKind(Enum):
    CALLS = auto()
    KERNELS = auto()
    COPIES = auto()
    AGENTS = auto()
    STATISTICS = auto()
    COUNTERS = auto()
    ALLOCATIONS = auto()
    SAMPLES = auto()
    OTHER = auto()


TRACE_KINDS: Final = (TableKind.CALLS, TableKind.KERNELS, TableKind.COPIES)
"""The kinds whose rows are events of a trace."""
_HEADERS: Final[tuple[tuple[TableKind, frozenset[str]], ...]] = (
    (TableKind.COUNTERS, frozenset(("counter_name", "counter_value"))),
    (TableKind.STATISTICS, frozenset(("name", "calls", "totaldurationns"))),
    (TableKind.STATISTICS, frozenset(("name", "calls", "percentage"))),
    (TableKind.CALLS, frozenset(("domain", "function", *_TIMES))),
    (TableKind.KERNELS, frozenset(("kernel_name", *_TIMES))),
    (TableKind.COPIES, frozenset(("direction", *_TIMES))),
    (TableKind.COPIES, frozenset(("source_agent_id", "destination_agent_id", *_TIMES))),
    (TableKind.ALLOCATIONS, frozenset(("operation", *_TIMES))),
    (TableKind.AGENTS, frozenset(("node_id", "agent_type"))),
    (TableKind.SAMPLES, frozenset(("exec_mask", "sample_timestamp"))),
)


@dataclass(frozen=True, slots=True)
class Table:
    path: Path
    kind: TableKind
    columns: dict[str, tuple[str, ...]]
    size: int

    def has(self, name: str) -> bool:
        """True where the header has this column."""
        return name in self.columns

    def text(self, *names: str) -> tuple[str, ...]:
        """The first of these columns that is there; empty text for each row where none is."""
        for name in names:
            if name in self.columns:
                return self.columns[name]
        return ("",) * self.size

    def integers(self, name: str) -> Column:
        """A column of numbers; ABSENT where it is missing, empty or no number."""
        return _integers(self.text(name), ABSENT)

    def ids(self, name: str) -> Column:
        """A column of correlation ids; 0 where there is none."""
        return unsigned_column([integer(value, 0) for value in self.text(name)])

    def agents(self, name: str) -> Column:
        """Agent numbers, from `4`, `Agent 4` or `GPU 0`."""
        numbers = _integers([value.rpartition(" ")[2] for value in self.text(name)], ABSENT_DEVICE)
        fits = (numbers >= 0) & (numbers <= np.iinfo(np.int16).max)
        return np.where(fits, numbers, ABSENT_DEVICE)


def _integers(values: tuple[str, ...] | list[str], absent: int) -> Column:
    try:
        return np.array([int(value) for value in values], np.int64)
    except (ValueError, OverflowError):
        return integer_column(values, absent)


def header_kind(header: list[str]) -> TableKind:
    """What the rows under these column names are; OTHER for names that rocprofv3 does not write."""
    names = frozenset(name.strip().lower() for name in header)
    for kind, needed in _HEADERS:
        if needed <= names:
            return kind
    return TableKind.OTHER


def read_table(path: Path, findings: Findings) -> Table:
    """One file's rows. Raises BrokenTrace for a file without a header."""
    content = plain_bytes(path)
    text = content.decode("utf-8-sig", "replace")
    lines = _rows(path, text)
    header = [name.strip().lower() for name in next(lines, [])]
    if not any(header):
        raise BrokenTrace(f"{path}: empty file")
    kind = header_kind(header)
    rows = [row for row in lines if row]
    good = [row for row in rows if len(row) == len(header)]
    if kind in TRACE_KINDS:
        times = header.index(_TIMES[0]), header.index(_TIMES[1])
        good = [row for row in good if _is_time(row[times[0]]) and _is_time(row[times[1]])]
        cut = bool(rows) and not text.endswith(("\n", "\r"))
        if cut and good and rows[-1] is good[-1] and int(good[-1][times[1]]) < int(good[-1][times[0]]):
            good.pop()  # the last number lost its last digits
        cut = cut and (not good or rows[-1] is not good[-1])
        _count_lost(path, len(rows) - len(good), cut, findings)
    columns: dict[str, tuple[str, ...]] = dict.fromkeys(header, ())
    columns |= dict(zip(header, zip(*good, strict=True), strict=False))
    if "\ufffd" in text and "\ufffd".encode() not in content:
        broken = sum(any("\ufffd" in value for value in row) for row in good)
        findings.count(Fault.ROWS_REPAIRED, broken)
        findings.note(f"{path.name}: bytes that are not UTF-8 were replaced in {broken} rows.")
    return Table(path, kind, columns, len(good))


def _rows(path: Path, text: str) -> Iterator[list[str]]:
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(io.StringIO(text.replace("\0", ""), newline=""))
    try:
        yield from reader
    except csv.Error as error:
        raise BrokenTrace(f"{path}: line {reader.line_num}: {error}") from None


def _count_lost(path: Path, lost: int, cut: bool, findings: Findings) -> None:
    """Count rows of the wrong length or without times; a cut-off last line is a truncation."""
    if cut:
        findings.count(Fault.TRUNCATED)
        findings.note(f"{path.name} is cut off inside its last line.")
    if lost > cut:
        findings.count(Fault.ROWS_SKIPPED, lost - cut)
        findings.note(f"{path.name}: {lost - cut} rows of the wrong length or without times were skipped.")


def _is_time(value: str) -> bool:
    return len(value) < 24 and value.strip(" \t").isdecimal() and int(value) < _INT64_END
