"""Looking numbers up in a report, for renderers: a number that is not there is None, not an error."""

from __future__ import annotations

from dataclasses import dataclass

from overlap_lab.report import Cell, Column, Measurement, Report, Scope, Table

__all__ = ["Numbers", "blocked_split", "cut", "most_idle", "records"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The measurements of a report by tag and scope."""

    report: Report

    def measurement(self, tag: str, scope: Scope) -> Measurement | None:
        return self.report.by_scope(tag).get(frozenset(scope.items()))

    def value(self, tag: str, scope: Scope) -> int | float | None:
        measurement = self.measurement(tag, scope)
        return None if measurement is None else measurement.value

    def count(self, tag: str, scope: Scope) -> int:
        """The value as an integer, 0 where the report has none."""
        return int(self.value(tag, scope) or 0)

    def scopes(self, tag: str, *keys: str) -> list[dict[str, int]]:
        """The scopes with exactly these keys that a tag was measured for, in order."""
        wanted = set(keys)
        found = map(dict, self.report.by_scope(tag))
        return sorted(
            (scope for scope in found if scope.keys() == wanted),
            key=lambda scope: [scope[key] for key in keys],
        )

    def devices(self) -> list[dict[str, int]]:
        """The scopes of the devices; `[{}]` for the one device of a file that numbers none."""
        numbered = self.scopes("device/busy", "device")
        return numbered or ([{}] if self.value("device/busy", {}) is not None else [])

    def threads(self) -> list[dict[str, int]]:
        return self.scopes("host/blocked", "process", "thread")


def most_idle(numbers: Numbers, devices: list[dict[str, int]], most: int) -> list[dict[str, int]]:
    """At most so many devices, those that idle longest, in their order."""
    if len(devices) <= most:
        return devices
    ranked = sorted(range(len(devices)), key=lambda at: -numbers.count("device/idle", devices[at]))
    return [devices[at] for at in sorted(ranked[:most])]


def cut(words: list[str], most: int, what: str) -> list[str]:
    """At most so many of the words, then how many more there are of what."""
    hidden = len(words) - most
    return words if hidden <= 0 else [*words[:most], f"... and {hidden:,} more {what}"]


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
