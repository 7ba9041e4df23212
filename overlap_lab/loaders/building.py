"""Blocks of rows of one kind, gathered into one Trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from overlap_lab.schema import COLUMNS, Fault, Kind
from overlap_lab.trace import DEFAULTS, Column, Mask, Source, Trace

__all__ = ["Columns", "Findings", "TraceBuilder"]

Columns = dict[str, Column]

_FAR: Final = 1 << 62
"""No time is further from 0: sums and differences of times stay within int64."""


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


class TraceBuilder:
    """Collects blocks of rows; names are interned over all of them."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._blocks: list[Columns] = []

    def interned(self, names: Sequence[str]) -> Column:
        """The code of each name, for `add`."""
        index = self._names
        return np.fromiter((index.setdefault(name, len(index)) for name in names), np.int32, len(names))

    def add(self, kind: Kind, names: Sequence[str] | Column, **columns: Any) -> None:
        """Add one row per name or code; a column is an array of that length or one value for all rows."""
        size = len(names)
        if not size:
            return
        codes = names if isinstance(names, np.ndarray) else self.interned(names)
        given = {"kind": kind, "name": codes, **columns}
        self._blocks.append(
            {
                name: np.broadcast_to(np.asarray(given.get(name, DEFAULTS.get(name, 0)), dtype), size)
                for name, dtype in COLUMNS.items()
                if name != "depth"
            }
        )

    def add_timed(self, kind: Kind, names: Sequence[str] | Column, columns: Columns, found: Findings) -> None:
        """Add the rows that have both times; the others are counted as skipped."""
        good = _is_time(columns["start_ns"]) & _is_time(columns["end_ns"])
        lost = int((~good).sum())
        codes = names if isinstance(names, np.ndarray) else self.interned(names)
        if lost:
            found.count(Fault.ROWS_SKIPPED, lost)
            found.note(f"{lost} {kind.name.lower()} rows without a start or end were skipped.")
            codes, columns = codes[good], {name: column[good] for name, column in columns.items()}
        self.add(kind, codes, **columns)

    def columns(self) -> Columns:
        """All rows so far as writable columns, in the order in which they were added."""
        if not self._blocks:
            return {name: np.zeros(0, dtype) for name, dtype in COLUMNS.items() if name != "depth"}
        return {name: np.concatenate([b[name] for b in self._blocks]) for name in self._blocks[0]}

    def names(self) -> tuple[str, ...]:
        """The interned names, in the order of their codes."""
        return tuple(self._names)

    def build(self, columns: Columns, source: Source) -> Trace:
        """The trace of these columns (from `columns`, where a loader has filled in more)."""
        return Trace.from_columns(columns, names=self.names(), source=source)


def _is_time(times: Column) -> Mask:
    return np.asarray((times > -_FAR) & (times < _FAR))
