"""The tables of a report behind the first two, in the order in which people ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from overlap_lab.render.numbers import records
from overlap_lab.render.summary import quality_table, run_ahead_table
from overlap_lab.report import Cell, Column, Report, Table

__all__ = ["collectives_table", "detail_tables", "waits_table"]

_PLACES = ("range", "op", "frame")


def detail_tables(report: Report) -> list[Table]:
    """Blocking calls, drains, steps, run-ahead, streams, quality; those without rows are left out."""
    drains = _shown(
        report, "drains", "Drains, the costliest first: idle = return + refill by the host + launch"
    )
    found = [
        _shown(report, "calls_by_cause", "Blocking calls, the most idle time until new work ran first"),
        _largest_first(drains, "idle"),
        _shown(report, "steps", "Steps"),
        run_ahead_table(report),
        _shown(report, "streams", "Streams"),
        quality_table(report),
    ]
    return [table for table in found if table.rows]


def collectives_table(report: Report) -> Table:
    """Time in collectives and waits in them by device; without rows where there are none."""
    return _shown(report, "collectives", "Collectives")


def waits_table(report: Report) -> Table:
    """Every wait, the longest first."""
    return _largest_first(_shown(report, "waits", "Waits, the longest first"), "blocked")


def _shown(report: Report, name: str, title: str) -> Table:
    """A table of the report for people: one column says where, empty columns and underscores are gone."""
    table = report.tables.get(name)
    if table is None:
        return Table((), (), title)
    kept = [column for column in table.columns if column.name not in (*_PLACES, "end", "start_absolute")]
    rows: list[tuple[Cell, ...]] = [
        (
            *(_said(row, column.name) for column in kept),
            _where(row[place] for place in _PLACES if place in row),
        )
        for row in records(table)
    ]
    heads = [*map(_head, kept), Column("where", "text")]
    return _without_empty_columns(heads, rows, title)


def _said(row: Mapping[str, Cell], name: str) -> Cell:
    """A reason is a word of ours, printed as words; names from the trace stay as they are."""
    cell = row[name]
    return cell.replace("_", " ") if name == "reason" and isinstance(cell, str) else cell


def _head(column: Column) -> Column:
    if column.name == "start":
        return Column("at", "moment")
    return Column(column.name.replace("_", " "), column.unit)


def _where(places: Iterable[Cell]) -> str | None:
    return " > ".join(str(place) for place in places if place) or None


def _without_empty_columns(heads: Sequence[Column], rows: Sequence[tuple[Cell, ...]], title: str) -> Table:
    keep = [at for at in range(len(heads)) if any(row[at] is not None for row in rows)]
    return Table(tuple(heads[at] for at in keep), tuple(tuple(row[at] for at in keep) for row in rows), title)


def _largest_first(table: Table, name: str) -> Table:
    names = [column.name for column in table.columns]
    if name not in names:
        return table
    at = names.index(name)
    return Table(table.columns, tuple(sorted(table.rows, key=lambda row: -int(row[at] or 0))), table.title)
