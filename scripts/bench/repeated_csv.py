"""Captures in rocprofv3's CSV, repeated until they have the rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from scripts.bench.repeated_text import TIME, Repeated

__all__ = ["csv_rows", "repeat_csv"]

_GAP_NS: Final = 1000
_FAMILIES: Final = {
    "Start_Timestamp": TIME,
    "End_Timestamp": TIME,
    "Correlation_Id": "call",
    "Dispatch_Id": "dispatch",
}

Range = dict[str, tuple[int, int]]
"""Family -> its smallest and largest number."""


@dataclass(frozen=True)
class _Table:
    """The rows of a file; `kind` is the end of its name, `capture` the beginning."""

    capture: str
    kind: str
    header: tuple[str, ...]
    rows: list[list[str]]

    @property
    def families(self) -> list[str | None]:
        return [_FAMILIES.get(name) for name in self.header]

    def numbers(self) -> Iterator[tuple[str, int]]:
        for row in self.rows:
            for family, cell in zip(self.families, row, strict=True):
                if family:
                    yield family, int(cell)

    def moved(self, by: dict[str, int]) -> _Table:
        rows = [
            [
                str(int(cell) + by.get(family, 0)) if family else cell
                for family, cell in zip(self.families, row, strict=True)
            ]
            for row in self.rows
        ]
        return _Table(self.capture, self.kind, self.header, rows)


def csv_rows(files: Sequence[Path]) -> int:
    """How many rows, headers left out."""
    return sum(len(_read(file).rows) for file in files)


def repeat_csv(files: Sequence[Path], folder: Path, copies: int) -> None:
    """Write the tables this often, as those of one process; one capture's rows follow the other's."""
    folder.mkdir(parents=True)
    tables = list(_one_after_the_other([_read(file) for file in files]))
    steps = {family: high + 1 for family, (_, high) in _range(tables).items()}
    low, high = _range(tables)[TIME]
    steps[TIME] = high - low + _GAP_NS
    for kind, alike in groupby(sorted(tables, key=lambda table: table.kind), lambda table: table.kind):
        same = list(alike)
        each = _repeated(same).copies(steps)
        with (folder / f"4001_{kind}.csv").open("w", newline="") as out:
            csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(same[0].header)
            out.writelines(each[number] for number in range(copies))


def _read(file: Path) -> _Table:
    capture, _, kind = file.stem.partition("_")
    header, *rows = csv.reader(io.StringIO(file.read_text(), newline=""))
    return _Table(capture, kind, tuple(header), rows)


def _range(tables: Sequence[_Table]) -> Range:
    found: Range = {}
    for table in tables:
        for family, number in table.numbers():
            low, high = found.get(family, (number, number))
            found[family] = min(low, number), max(high, number)
    return found


def _one_after_the_other(tables: list[_Table]) -> Iterator[_Table]:
    ends: dict[str, int] = {}
    for _, each in groupby(tables, lambda table: table.capture):
        mine = list(each)
        ranges = _range(mine)
        by = {family: ends.get(family, 0) for family in ranges}
        by[TIME] = ends[TIME] + _GAP_NS - ranges[TIME][0] if ends else 0
        yield from (table.moved(by) for table in mine)
        ends |= {family: high + by[family] for family, (_, high) in ranges.items()}


def _repeated(tables: list[_Table]) -> Repeated:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for table in tables:
        for row in table.rows:
            cells = zip(table.families, row, strict=True)
            writer.writerow("%d" if family else cell.replace("%", "%%") for family, cell in cells)
    numbers = [pair for table in tables for pair in table.numbers()]
    families, values = zip(*numbers, strict=True)
    return Repeated(text.getvalue(), np.array(values, np.int64), families)
