"""The rows of a report's table of waits by column, grouped by place in the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from overlap_lab.columns import Ints, Mask, order, sum_of_each
from overlap_lab.report import Cell, ColumnRows, Report
from overlap_lab.schema import Reason

__all__ = ["COPY_OPS", "WaitRows", "wait_rows"]

COPY_OPS: Final = frozenset({"aten::copy_", "aten::_to_copy", "aten::to"})
"""Framework ops that copy, and wait for their copy where the host memory is pageable."""

_NUMBER: Final = re.compile(r"\d+")
_Key = TypeVar("_Key", bound=Hashable)
_Place = tuple[Cell, Cell, Cell, Cell, Cell, Cell]
"""Call, reason, framework op, line, range without its numbers, and which way a copy went."""


@dataclass(frozen=True, slots=True, eq=False)
class WaitRows:
    """Waits in columns, and their places; places have numbers."""

    cells: dict[str, list[Cell]]
    blocked: Ints
    before_the_end: Ints
    """Blocked time, 0 for final waits."""
    idle: Ints
    final: Mask
    drained: Mask
    place: Ints
    names: list[list[tuple[str, str]]]
    """By place the calls with their reasons."""
    members: list[Ints]
    """By place its waits, the one first that cost the device most, else the host."""

    def sums(self, of: Ints | Mask) -> list[int]:
        """Summed by place."""
        return list(sum_of_each(self.place, of.astype(np.int64), len(self.names)).tolist())

    def text(self, name: str, wait: int) -> str | None:
        """A cell, None where it is empty."""
        cell = self.cells[name][wait]
        return str(cell) if cell else None

    def by_cost(self, place: int, *names: str) -> list[tuple[tuple[Cell, ...], int, int]]:
        """The different cells of a place's waits with their idle and blocked time, as they come."""
        members = self.members[place]
        at = members.tolist()
        code, found = _numbered(zip(*(map(self.cells[name].__getitem__, at) for name in names), strict=True))
        sums = (sum_of_each(code, each[members], len(found)).tolist() for each in (self.idle, self.blocked))
        return list(zip(found, *sums, strict=True))


def wait_rows(report: Report, copies: Callable[[int], Sequence[int | None]]) -> WaitRows | None:
    """The waits of a report, None where it has none; `copies` says of so many waits which way each copied.

    A place is the same call, reason, op and line, in ranges that differ only by numbers, and the same way of
    copying.
    """
    cells = _cells_of(report)
    size = len(cells["call"])
    if size == 0:
        return None
    blocked, idle = (np.array([cell or 0 for cell in cells[name]], np.int64) for name in _TIMES)
    final, drained = (np.array(cells[name]).astype(np.bool_) for name in ("terminal", "drained"))
    place, names = _places(cells, copies(size))
    by_place = order(place, idle, blocked, descending=0b110)
    edges = np.flatnonzero(np.r_[True, place[by_place][1:] != place[by_place][:-1]])
    return WaitRows(
        cells,
        blocked,
        np.where(final, 0, blocked),
        idle,
        final,
        drained,
        place,
        names,
        np.split(by_place, edges[1:]),
    )


_TIMES: Final = ("blocked", "idle_caused")
_NAMES: Final = (
    *("call", "reason", "range", "op", "frame", "process", "thread", "start", "end", "terminal", "drained"),
    *_TIMES,
)


def _cells_of(report: Report) -> dict[str, list[Cell]]:
    """The columns that are needed, of None where the table has no such column."""
    table = report.tables.get("waits")
    if table is None:
        return {name: [] for name in _NAMES}
    rows = table.rows
    columns = (
        rows.columns() if isinstance(rows, ColumnRows) else [list(one) for one in zip(*rows, strict=True)]
    )
    found = dict(zip((column.name for column in table.columns), columns, strict=False))
    return {name: found.get(name, [None] * len(rows)) for name in _NAMES}


def _places(
    cells: dict[str, list[Cell]], copies: Sequence[int | None]
) -> tuple[Ints, list[list[tuple[str, str]]]]:
    """The place of each wait, and of each place its calls with their reasons."""
    around = {name: _NUMBER.sub("*", str(name)) if name else None for name in set(cells["range"])}
    ranges = [around[name] for name in cells["range"]]
    code, keys = _numbered(
        zip(cells["call"], cells["reason"], cells["op"], cells["frame"], ranges, copies, strict=True)
    )
    group, groups = _numbered(_framework_copies(keys))
    names: list[list[tuple[str, str]]] = [[] for _ in groups]
    for key, number in zip(keys, group.tolist(), strict=True):
        names[number].append((str(key[0]), str(key[1])))
    return group[code], names


def _framework_copies(keys: Sequence[_Place]) -> list[Hashable]:
    """What makes keys one place: a pageable copy and the synchronize with which a framework op waits for it.

    Not where it copies both ways: nothing says which copy a synchronize was for.
    """
    shared = [_shared(key) for key in keys]
    ways: dict[Hashable, int] = {}
    for key, one in zip(keys, shared, strict=True):
        ways[one] = ways.get(one, 0) + (key[1] == Reason.PAGEABLE_COPY)
    return [key if one is None or ways[one] > 1 else one for key, one in zip(keys, shared, strict=True)]


def _shared(key: _Place) -> Hashable:
    _, reason, op, frame, around, _ = key
    is_copy = op in COPY_OPS and reason in (Reason.PAGEABLE_COPY, Reason.STREAM_SYNC)
    return (op, frame, around) if is_copy else None


def _numbered(keys: Iterable[_Key]) -> tuple[Ints, list[_Key]]:
    """The number of each key among the distinct ones, and these as they come."""
    index: dict[_Key, int] = {}
    code = [index.setdefault(key, len(index)) for key in keys]
    return np.array(code, np.int64), list(index)
