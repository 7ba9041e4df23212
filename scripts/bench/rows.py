"""Rows of the table: what must hold, what is aimed at, what was measured, and by how much it is missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

__all__ = ["Goal", "Row", "at_least", "at_most", "not_run", "printed", "row_of", "saved", "shown"]


@dataclass(frozen=True)
class Goal:
    """Limits of a number, and how it is written."""

    must: float | None
    aim: float | None
    form: str
    """A format, as "{:.1f}x"."""
    smaller_is_better: bool

    def written(self, limit: float | None) -> str:
        """A limit as a cell."""
        if limit is None:
            return "-"
        return ("<= " if self.smaller_is_better else "") + self.form.format(limit)

    def verdict(self, measured: float) -> str:
        """Whether the limits are met, or by how much they are missed."""
        if self.must is None:
            return "shown"
        if not self._met(measured, self.must):
            return f"**missed**: {self._share(measured, self.must)}"
        if self.aim is None:
            return "met"
        if self._met(measured, self.aim):
            return "met, the aim too"
        return f"met; aim: {self._share(measured, self.aim)}"

    def _met(self, measured: float, limit: float) -> bool:
        return measured <= limit if self.smaller_is_better else measured >= limit

    def _share(self, measured: float, limit: float) -> str:
        if self.smaller_is_better:
            return f"{measured / limit:.2f} times the limit"
        return f"{100 * measured / limit:.0f} % of it"


@dataclass(frozen=True)
class Row:
    """One comparison, as cells."""

    work: str
    file: str
    must: str
    aim: str
    measured: str
    verdict: str
    seconds: str


def at_least(must: float | None, aim: float | None, form: str = "{:.3g}x") -> Goal:
    """A goal of a number that should be large."""
    return Goal(must, aim, form, smaller_is_better=False)


def at_most(must: float | None, aim: float | None, form: str = "{:.2f} of the file") -> Goal:
    """A goal of a number that should be small."""
    return Goal(must, aim, form, smaller_is_better=True)


def row_of(work: str, file: str, goal: Goal, measured: float, seconds: str = "") -> Row:
    """A row of a measured number."""
    limits = goal.written(goal.must), goal.written(goal.aim)
    return Row(work, file, *limits, goal.form.format(measured), goal.verdict(measured), seconds)


def shown(work: str, file: str, measured: str, seconds: str = "") -> Row:
    """A row for which no limit is set."""
    return Row(work, file, "-", "-", measured, "shown", seconds)


def not_run(work: str, file: str, goal: Goal, why: object) -> Row:
    """A row without a number, and why."""
    text = " ".join(str(why).split()).replace("|", "/")
    return Row(work, file, goal.written(goal.must), goal.written(goal.aim), "-", f"not run: {text}", "")


def printed(rows: Sequence[Row]) -> str:
    """Rows as a table in Markdown."""
    head = ("work", "file", "must", "aim", "measured", "verdict", "seconds (medians)")
    lines = [head, ("---",) * len(head), *(tuple(asdict(row).values()) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def saved(row: Row) -> Mapping[str, str]:
    """A row as JSON keeps it: `Row(**saved)` is the row."""
    return asdict(row)
