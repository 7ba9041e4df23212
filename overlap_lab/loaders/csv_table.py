"""One rocprofv3 CSV file as columns by lower-case header name; broken rows are skipped and counted."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.alike import Coded, alike
from overlap_lab.loaders.building import Findings
from overlap_lab.loaders.content import plain_bytes
from overlap_lab.loaders.numbers import integer, integer_column, unsigned_column
from overlap_lab.native import Field, csv_header, read_csv
from overlap_lab.schema import ABSENT, ABSENT_DEVICE, Fault
from overlap_lab.trace import Column

__all__ = ["TRACE_KINDS", "Table", "TableKind", "header_kind", "read_table"]

_INT64_END: Final = 1 << 63
_FIELD_LIMIT: Final = 16 << 20
_AT_ONCE: Final = 16 << 20
_TIMES: Final = ("start_timestamp", "end_timestamp")
_FIELDS: Final = {
    **dict.fromkeys(_TIMES, Field.TIME),
    **dict.fromkeys(("process_id", "thread_id", "correlation_id", "stream_id", "queue_id"), Field.INTEGER),
    **dict.fromkeys(("guid", "domain", "function", "kernel_name", "direction", "name"), Field.TEXT),
    **dict.fromkeys(("agent_id", "source_agent_id", "destination_agent_id"), Field.TEXT),
}
"""The columns that the trace takes."""


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
class Numbers:
    """A column of numbers of which a few rows hold other text."""

    values: Column
    odd_rows: Column
    odd: Coded

    def resolved(self, number: Callable[[list[str]], Column]) -> Column:
        """The column with the odd texts as this function has them."""
        first, place = alike(self.odd.codes)
        found = number([self.odd.texts[code] for code in self.odd.codes[first].tolist()])
        column = self.values.astype(found.dtype)
        column[self.odd_rows] = found[place]
        return column

    def until(self, size: int) -> Numbers:
        """The first rows."""
        odd = self.odd_rows < size
        return Numbers(self.values[:size], self.odd_rows[odd], self.odd.rows(odd))


@dataclass(frozen=True, slots=True)
class Table:
    path: Path
    kind: TableKind
    columns: Mapping[str, Coded | Numbers]
    """By header name. A column that nothing here reads may hold no rows."""
    size: int

    def has(self, name: str) -> bool:
        """True where the header has this column."""
        return name in self.columns

    def coded(self, *names: str) -> Coded:
        """The first of these columns that is there; empty text for each row where none is."""
        for name in names:
            column = self.columns.get(name)
            if isinstance(column, Coded):
                return column
        return Coded(np.zeros(self.size, np.int32), [""])

    def text(self, *names: str) -> list[str]:
        """`coded`, as one text per row."""
        column = self.coded(*names)
        return [column.texts[code] for code in column.codes.tolist()]

    def integers(self, name: str) -> Column:
        """A column of numbers; ABSENT where it is missing, empty or no number."""
        return self._numbers(name, lambda texts: _integers(texts, ABSENT))

    def ids(self, name: str) -> Column:
        """A column of correlation ids; 0 where there is none."""
        return self._numbers(name, lambda texts: unsigned_column([integer(text, 0) for text in texts]))

    def agents(self, name: str) -> Column:
        """Agent numbers, from `4`, `Agent 4` or `GPU 0`."""
        column = self.coded(name)
        numbers = _integers([text.rpartition(" ")[2] for text in column.texts], ABSENT_DEVICE)[column.codes]
        fits = (numbers >= 0) & (numbers <= np.iinfo(np.int16).max)
        return np.where(fits, numbers, ABSENT_DEVICE)

    def _numbers(self, name: str, number: Callable[[list[str]], Column]) -> Column:
        column = self.columns.get(name)
        if isinstance(column, Numbers):
            return column.resolved(number)
        coded = self.coded(name)
        return number(list(coded.texts))[coded.codes]


def _integers(values: list[str], absent: int) -> Column:
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
    return _read_compiled(path, content, findings) or read_plainly(path, content, findings)


def _read_compiled(path: Path, content: bytes, findings: Findings) -> Table | None:
    """The rows as the compiled core reads them; None for what only `csv` can judge, and for small tables."""
    content = content.removeprefix(codecs.BOM_UTF8)
    if b"\0" in content or not _is_utf8(content):
        return None
    names, offset = csv_header(content)
    header = [name.strip().lower() for name in names]
    kind = header_kind(header)
    if kind not in TRACE_KINDS or len(set(header)) < len(header):
        return None
    found = read_csv(content, offset, [_FIELDS.get(name, Field.SKIPPED) for name in header])
    if found is None:
        return None
    read, seen, size, last_kept = found
    columns = {name: _column(each) for name, each in zip(header, read, strict=True)}
    cut = seen > 0 and not content.endswith((b"\n", b"\r"))
    start, end = (columns[name] for name in _TIMES)
    backwards = (
        isinstance(start, Numbers) and isinstance(end, Numbers) and end.values[-1:] < start.values[-1:]
    )
    if cut and last_kept and backwards:  # the last number lost its last digits
        size, last_kept = size - 1, False
        columns = {name: column.until(size) for name, column in columns.items()}
    _count_lost(path, seen - size, cut and not last_kept, findings)
    return Table(path, kind, columns, size)


def _column(read: Any) -> Coded | Numbers:
    if read is None:
        return Coded(np.zeros(0, np.int32), [])
    if len(read) == 2:
        return Coded(*read)
    values, odd_rows, odd = read
    return Numbers(values, odd_rows, Coded(*odd))


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(content)
    try:
        for at in range(0, len(content), _AT_ONCE):
            decoder.decode(view[at : at + _AT_ONCE], final=at + _AT_ONCE >= len(content))
    except UnicodeDecodeError:
        return False
    return True


def read_plainly(path: Path, content: bytes, findings: Findings) -> Table:
    """`read_table` by way of Python's `csv`, which takes everything."""
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
    columns = dict.fromkeys(header, Coded.of(()))
    columns |= {name: Coded.of(cells) for name, cells in zip(header, zip(*good, strict=True), strict=False)}
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
