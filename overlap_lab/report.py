"""Report: measured numbers, tables and findings that explain themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

from overlap_lab.display import card, grid
from overlap_lab.errors import UsageError
from overlap_lab.units import format_ns

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

__all__ = [
    "SCHEMA",
    "Better",
    "Coded",
    "Column",
    "ColumnRows",
    "Difference",
    "Finding",
    "Measurement",
    "Report",
    "Severity",
    "Table",
]

SCHEMA = "overlap_lab.report/1"

_ROWS = 10
"""Rows of a table that a notebook shows."""

Scope = Mapping[str, int]
ScopeKey = frozenset[tuple[str, int]]
Cell = str | int | float | bool | None
Row = tuple[Cell, ...]


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number: what it is, for which part of the trace, and which direction is good.

    `value` is an int for the units "ns" and "count", a float for "ratio", or None with a `reason`.
    `low` and `high` are given where the value depends on faulty clocks.
    """

    tag: str
    scope: Scope
    value: int | float | None
    unit: str
    title: str
    better: Better
    reason: str | None = None
    low: int | float | None = None
    high: int | float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    unit: str
    """"ns", "count", "ratio", "bytes", "id" or "text"."""


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A column of differences, made when they are asked for."""

    values: npt.NDArray[Any]
    less: npt.NDArray[Any] | int

    @property
    def size(self) -> int:
        return int(self.values.size)

    def __getitem__(self, at: slice) -> npt.NDArray[Any]:
        less = self.less if isinstance(self.less, int) else self.less[at]
        difference: npt.NDArray[Any] = self.values[at] - less
        return difference


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of few different cells, by code."""

    cells: npt.NDArray[Any]
    code: npt.NDArray[Any]

    @property
    def size(self) -> int:
        return int(self.code.size)

    def __getitem__(self, at: slice) -> npt.NDArray[Any]:
        chosen: npt.NDArray[Any] = self.cells[self.code[at]]
        return chosen


class ColumnRows(Sequence["Row"]):
    """Rows of equally long columns, made when they are asked for: as arrays a million take little memory.

    Arrays of objects hold cells as they are.
    """

    __slots__ = ("_columns",)

    def __init__(self, *columns: npt.NDArray[Any] | Difference | Coded) -> None:
        self._columns = columns

    def columns(self) -> list[list[Cell]]:
        """The cells by column."""
        return [self.column(at) for at in range(len(self._columns))]

    def column(self, at: int) -> list[Cell]:
        """The cells of one column."""
        cells: list[Cell] = self._columns[at][:].tolist()
        return cells

    def __len__(self) -> int:
        return int(self._columns[0].size)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(zip(*(column[at].tolist() for column in self._columns), strict=True))
        place = range(len(self))[at]
        return self[place : place + 1][0]

    def __iter__(self) -> Iterator[Row]:
        at_once = 1 << 12
        return chain.from_iterable(self[at : at + at_once] for at in range(0, len(self), at_once))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (tuple, ColumnRows)):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns with units; a row is a tuple in the order of `columns`."""

    columns: tuple[Column, ...]
    rows: Sequence[Row]
    title: str = ""

    def __repr__(self) -> str:
        return f"Table({len(self.rows):,} rows of {', '.join(column.name for column in self.columns)})"

    def _repr_html_(self) -> str:
        shown = [
            [_shown(cell, c.unit) for cell, c in zip(row, self.columns, strict=True)]
            for row in self.rows[:_ROWS]
        ]
        names = [column.name for column in self.columns]
        return grid(names, shown, title=self.title, more=len(self.rows) - len(shown))

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=[column.name for column in self.columns])


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence that a person acts on, with the numbers it rests on."""

    rule: str
    severity: Severity
    title: str
    scope: Scope = field(default_factory=dict)
    evidence: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """What `analyze` found in one trace. `source` is JSON-ready: files, format, devices, window, settings."""

    source: Mapping[str, object]
    measurements: tuple[Measurement, ...]
    tables: Mapping[str, Table]
    findings: tuple[Finding, ...]
    _by_tag: dict[str, dict[ScopeKey, Measurement]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __repr__(self) -> str:
        tables = ", ".join(self.tables) or "none"
        return f"Report({self.verdict!r}, {len(self.measurements)} measurements, tables: {tables})"

    def _repr_html_(self) -> str:
        """The verdict, time by device, and what blocks: as much as one looks at."""
        files = self.source.get("files")
        names = ", ".join(map(str, files)) if isinstance(files, list | tuple) else ""
        tables = [
            self.tables[name]._repr_html_() for name in ("devices", "calls_by_cause") if name in self.tables
        ]
        notes = [finding.title for finding in self.findings if finding.rule != "verdict"]
        told = grid(["note"], [[note] for note in notes[:_ROWS]], more=len(notes) - _ROWS) if notes else ""
        return card(f"Report of {names or 'a trace in memory'}", self.verdict, *tables, told)

    @property
    def verdict(self) -> str:
        """What blocks, how often, what it costs and where, in one sentence."""
        found = (finding.title for finding in self.findings if finding.rule == "verdict")
        return next(found, "no verdict was reached")

    def measurement(self, tag: str, **scope: int) -> Measurement:
        """The measurement with exactly this tag and scope; raises UsageError where there is none."""
        found = self.by_scope(tag).get(frozenset(scope.items()))
        if found is not None:
            return found
        there = ", ".join(str(dict(one.scope) or "none") for one in self.by_tag(tag)[:8])
        known = f"its scopes: {there}" if there else "`measurements` lists all there are"
        raise UsageError(f"the report has no measurement {tag!r} with scope {scope or 'none'}; {known}")

    def value(self, tag: str, **scope: int) -> int | float | None:
        """The value of `measurement(tag, **scope)`."""
        return self.measurement(tag, **scope).value

    def by_tag(self, tag: str) -> Sequence[Measurement]:
        """Every measurement with this tag, whatever its scope."""
        return list(self.by_scope(tag).values())

    def by_scope(self, tag: str) -> Mapping[ScopeKey, Measurement]:
        """The measurements with this tag by what they are for."""
        if not self._by_tag:
            for one in self.measurements:
                self._by_tag.setdefault(one.tag, {})[frozenset(one.scope.items())] = one
        return self._by_tag.get(tag, {})


def _shown(cell: Cell, unit: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if unit == "ns":
        return format_ns(round(cell))
    return f"{cell:.3f}" if isinstance(cell, float) else f"{cell:,}" if unit == "count" else str(cell)
