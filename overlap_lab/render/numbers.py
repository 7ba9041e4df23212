"""Looking numbers up in a report, for renderers: a number that is not there is None, not an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overlap_lab.report import Cell, Column, Measurement, Report, Scope, Table

__all__ = ["Numbers", "blocked_split", "records"]

Key = tuple[str, frozenset[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The measurements of a report by tag and scope."""

    by_key: Mapping[Key, Measurement]

    @classmethod
    def of(cls, report: Report) -> Numbers:
        return cls({(m.tag, frozenset(m.scope.items())): m for m in report.measurements})

    def measurement(self, tag: str, scope: Scope) -> Measurement | None:
        return self.by_key.get((tag, frozenset(scope.items())))

    def value(self, tag: str, scope: Scope) -> int | float | None:
        measurement = self.measurement(tag, scope)
        return None if measurement is None else measurement.value

    def count(self, tag: str, scope: Scope) -> int:
        """The value as an integer, 0 where the report has none."""
        return int(self.value(tag, scope) or 0)

    def scopes(self, tag: str, *keys: str) -> list[dict[str, int]]:
        """The scopes with exactly these keys that a tag was measured for, in order."""
        found = [dict(scope) for name, scope in self.by_key if name == tag]
        return sorted(
            (scope for scope in found if scope.keys() == set(keys)),
            key=lambda scope: [scope[key] for key in keys],
        )

    def devices(self) -> list[dict[str, int]]:
        """The scopes of the devices; `[{}]` for the one device of a file that numbers none."""
        numbered = self.scopes("device/busy", "device")
        return numbered or ([{}] if self.value("device/busy", {}) is not None else [])

    def threads(self) -> list[dict[str, int]]:
        return self.scopes("host/blocked", "process", "thread")


def records(table: Table | None) -> list[dict[str, Cell]]:
    """The rows as name -> cell; none where the report has no such table."""
    if table is None:
        return []
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def blocked_split(report: Report) -> tuple[int, int] | None:
    """`host/blocked` in ns before the final waits and in them; None where the report keeps no waits."""
    table = report.tables.get("waits")
    if table is None:
        return None
    names = [column.name for column in table.columns]
    if Column("blocked", "ns") not in table.columns or "terminal" not in names:
        return None
    blocked, terminal = names.index("blocked"), names.index("terminal")
    whole = sum(int(row[blocked] or 0) for row in table.rows)
    final = sum(int(row[blocked] or 0) for row in table.rows if row[terminal])
    return whole - final, final
