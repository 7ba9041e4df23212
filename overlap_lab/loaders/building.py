"""Blocks of rows of one kind, gathered into one Trace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from overlap_lab.errors import BrokenTrace
from overlap_lab.loaders.coded_numbers import CodedNumbers
from overlap_lab.native import block_order, distinct_numbers, kept_bytes, scatter, take, time_order, times_fit
from overlap_lab.schema import ABSENT, COLUMNS, EARLIEST_NS, LATEST_NS, LONGEST_NS, Fault, Kind
from overlap_lab.trace import DEFAULTS, Column, Source, Trace, constant, possible_times

__all__ = ["Block", "Columns", "Findings", "GatheredRows", "TraceBuilder", "built", "built_in_order", "plain"]

Columns = dict[str, Column]
Block = Column | CodedNumbers
_GIVEN: Final = tuple(name for name in COLUMNS if name != "depth")
_MOST_ROWS: Final = 1 << 32
_TIMES: Final = ("start_ns", "end_ns")
_WHOLE: Final = ("kind", *_TIMES, "process", "device", "stream", "copy_kind")
"""Columns that the work on rows in the order in which they were added needs as they are."""


class Findings:
    """What a loader repaired, skipped or assumed: counts for the report, sentences for people."""

    def __init__(self) -> None:
        self.faults: dict[Fault, int] = {}
        self.notes: list[str] = []

    def count(self, fault: Fault, number: int = 1) -> None:
        """Add to a fault's count; 0 leaves no entry."""
        if number:
            self.faults[fault] = self.faults.get(fault, 0) + number

    def note(self, sentence: str) -> None:
        """Add a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def skip(self, number: int, what: str) -> None:
        """Count rows that are left out, and say what they are, if there are any."""
        if number:
            self.count(Fault.ROWS_SKIPPED, number)
            self.note(f"{number} {what} were left out.")

    def add(self, other: Findings) -> None:
        """Add all of another's."""
        for fault, number in other.faults.items():
            self.count(fault, number)
        for sentence in other.notes:
            self.note(sentence)


class TraceBuilder:
    """Collects blocks of rows; names are interned over all of them."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._blocks: list[dict[str, Block]] = []

    def interned(self, names: Sequence[str]) -> Column:
        """The code of each name, for `add`."""
        index = self._names
        for name in dict.fromkeys(names):
            index.setdefault(name, len(index))
        return np.fromiter(map(index.__getitem__, names), np.int32, len(names))

    def add(self, kind: Kind, names: Sequence[str] | Block, **columns: Any) -> None:
        """Add one row per name or code; a column is an array of that length or one value for all rows.

        A number that its column cannot hold (a device 70000, a process 2**40) is absent.
        """
        size = len(names)
        if not size:
            return
        codes = names if isinstance(names, (np.ndarray, CodedNumbers)) else self.interned(names)
        given = {"kind": kind, "name": codes, **columns}
        self._blocks.append(
            {name: _block(name, given.get(name, DEFAULTS.get(name, 0)), size) for name in _GIVEN}
        )

    def add_timed(
        self, kind: Kind, names: Sequence[str] | Block, columns: Mapping[str, Block], found: Findings
    ) -> None:
        """Add the rows that have both times; the others are counted as skipped."""
        codes = names if isinstance(names, (np.ndarray, CodedNumbers)) else self.interned(names)
        start, end = plain(columns["start_ns"]), plain(columns["end_ns"])
        if not (_are_times(start) and _are_times(end)):
            good = (start != ABSENT) & (end != ABSENT)
            lost = int((~good).sum())
            found.count(Fault.ROWS_SKIPPED, lost)
            found.note(f"{lost} {kind.name.lower()} rows without a start or end were skipped.")
            codes, columns = codes[good], {name: column[good] for name, column in columns.items()}
        self.add(kind, codes, **columns)

    def columns(self) -> GatheredRows:
        """All rows, in the order in which they were added. Taken: none are left here."""
        blocks, self._blocks = self._blocks, []
        return GatheredRows(blocks)

    def ordered(self) -> GatheredRows:
        """All rows, in the order of a trace where that is cheap; `columns` where it is not. Taken."""
        blocks, self._blocks = self._blocks, []
        times = [[np.ascontiguousarray(plain(block[name])) for block in blocks] for name in _TIMES]
        found = block_order(*times)
        if found is None or len(found[0]) >= _MOST_ROWS or not _fit(*found[2:]):
            return GatheredRows(blocks)
        for block in blocks:
            del block["start_ns"], block["end_ns"]
        return GatheredRows(blocks, found)

    def last_ns(self) -> int:
        """The latest end of all rows so far; 0 where there is none after it."""
        return max(0, *(int(plain(block["end_ns"]).max()) for block in self._blocks), 0)

    def names(self) -> tuple[str, ...]:
        """The interned names, in the order of their codes."""
        return tuple(self._names)

    def build(self, columns: GatheredRows, source: Source) -> Trace:
        """The trace of these rows. See `built`."""
        if columns.added is None:
            return self._put_in_order(columns, source)
        return Trace.from_ordered({name: columns[name] for name in _GIVEN}, names=self.names(), source=source)

    def _put_in_order(self, columns: GatheredRows, source: Source) -> Trace:
        start, end = columns["start_ns"], columns["end_ns"]
        if start.size >= _MOST_ROWS or not _fit(start, end):
            return built({name: columns[name] for name in _GIVEN}, self.names(), source)
        kind, same = columns["kind"], np.zeros(256, np.uint8)
        order = time_order(start, end, kind, same, np.argsort(start, kind="stable"))
        ordered = {}
        for name in _GIVEN:
            column = columns[name]
            ordered[name] = column if column.strides == (0,) else take(column, order)
        return Trace.from_ordered(ordered, names=self.names(), source=source)


Order = tuple[Column, Column, Column, Column]
"""Which row comes to each place, the place of each row, and both times in that order."""


class GatheredRows(Columns):
    """Columns of rows that were added in blocks, each put together when it is asked for.

    Those of one value take no memory and cannot be written.
    """

    def __init__(self, blocks: list[dict[str, Block]], order: Order | None = None) -> None:
        super().__init__()
        self._blocks = blocks
        self._added = [(_only(block["kind"]), len(block["name"])) for block in blocks]
        self.added: Column | None = order[0] if order else None
        """Of rows that are in the order of a trace, when each was added; None for others."""
        self._place = order[1] if order else None
        if order:
            self["start_ns"], self["end_ns"] = order[2:]

    def __missing__(self, name: str) -> Column:
        blocks = [block.pop(name) for block in self._blocks]
        if self._place is None:
            self[name] = _joined(name, COLUMNS[name], [plain(block) for block in blocks])
        else:
            self[name] = _scattered(name, blocks, self._place)
        return self[name]

    def added_as(self, kinds: Collection[int], name: str) -> Column:
        """A column of the rows that were added as these kinds, in the order in which they were."""
        found, at = [np.zeros(0, COLUMNS[name])], 0
        for (kind, size), block in zip(self._added, self._blocks, strict=True):
            if kind in kinds:
                found.append(self._of_block(name, block, at, size))
            at += size
        return np.concatenate(found)

    def _of_block(self, name: str, block: dict[str, Block], at: int, size: int) -> Column:
        if name not in self:
            return plain(block[name])
        here = slice(at, at + size) if self._place is None else self._place[at : at + size]
        return np.asarray(self[name][here])

    def distinct(self, name: str) -> Column:
        """The distinct numbers of a column, in no order."""
        if name in self:
            return distinct_numbers(self[name])
        found = [_distinct(block[name]) for block in self._blocks]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def built(columns: Columns, names: tuple[str, ...], source: Source) -> Trace:
    """The trace of these columns.

    Rows whose times cannot be times are left out and counted; where that is all of them, BrokenTrace.
    """
    possible = possible_times(columns["start_ns"], columns["end_ns"])
    lost = int((~possible).sum())
    if lost:
        if lost == possible.size:
            raise BrokenTrace(f"{', '.join(source.files)}: no trace events with a readable time")
        faults = {**source.faults, Fault.ROWS_SKIPPED: source.faults.get(Fault.ROWS_SKIPPED, 0) + lost}
        note = f"{lost} rows whose times are out of range, or over 100 days long, were left out."
        source = replace(source, faults=faults, notes=(*source.notes, note))
        columns = {name: column[possible] for name, column in columns.items()}
    return Trace.from_columns(columns, names=names, source=source)


def _fit(start: Column, end: Column) -> bool:
    return times_fit(start, end, EARLIEST_NS, LATEST_NS, LONGEST_NS)


def _scattered(name: str, blocks: list[Block], place: Column) -> Column:
    """A column of all blocks in the order of rows that gives each row its place."""
    value = _only(blocks[0])
    if value is not None and all(_only(block) == value for block in blocks):
        return constant(value, place.size, COLUMNS[name])
    whole = kept_bytes(place.size * COLUMNS[name].itemsize).view(COLUMNS[name])
    values = [block.values if isinstance(block, CodedNumbers) else block for block in blocks]
    codes = [block.codes if isinstance(block, CodedNumbers) else None for block in blocks]
    scatter(whole, values, codes, place)
    return whole


def _joined(name: str, dtype: np.dtype[Any], blocks: list[Column]) -> Column:
    if not blocks:
        return np.zeros(0, dtype)
    value = blocks[0][0]
    if name not in _WHOLE and all(block.strides == (0,) and block[0] == value for block in blocks):
        return constant(int(value), sum(map(len, blocks)), dtype)
    return np.concatenate(blocks, dtype=dtype, casting="unsafe")


def built_in_order(columns: Columns, names: tuple[str, ...], source: Source) -> Trace:
    """As `built` of all columns but the depth, in rows that are in the order of a trace already."""
    start, end = columns["start_ns"], columns["end_ns"]
    if _fit(start, end) or possible_times(start, end).all():
        return Trace.from_ordered(columns, names=names, source=source)
    return built(columns, names, source)


def _block(name: str, given: Any, size: int) -> Block:
    if isinstance(given, CodedNumbers):
        return given.mapped(_held(name, given.values, COLUMNS[name]))
    return np.broadcast_to(_held(name, given, COLUMNS[name]), size)


def plain(block: Block) -> Column:
    """A value per row."""
    return block.column() if isinstance(block, CodedNumbers) else block


def _distinct(block: Block) -> Column:
    if isinstance(block, CodedNumbers):
        return block.values[distinct_numbers(block.codes)].astype(np.int64)
    return distinct_numbers(block)


def _only(block: Block) -> int | None:
    """The one value of all rows, where the block is such a column."""
    if isinstance(block, CodedNumbers):
        return int(block.values[0]) if block.values.size == 1 else None
    return int(block[0]) if block.strides == (0,) else None


def _are_times(times: Column) -> bool:
    return not times.size or int(times.min()) != ABSENT


def _held(name: str, values: Any, dtype: np.dtype[Any]) -> Column:
    """The values in their column's type or a narrower one; those that do not fit become absent."""
    given = np.asarray(values)
    if np.can_cast(given.dtype, dtype):
        return given
    if given.dtype == dtype or given.dtype.kind not in "iu" or not given.size:
        return given.astype(dtype)
    limits = np.iinfo(dtype)
    if int(given.min()) >= limits.min and int(given.max()) <= limits.max:
        return given.astype(dtype)
    fits = (given >= limits.min) & (given <= limits.max)
    return np.where(fits, given, DEFAULTS.get(name, 0)).astype(dtype)
