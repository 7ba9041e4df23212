"""The values that a comparison is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from overlap_lab.display import card, grid
from overlap_lab.report import Better, Scope
from overlap_lab.schema import Cause
from overlap_lab.units import format_ns

__all__ = ["SCHEMA", "Comparison", "Difference", "Explanation", "Sampling", "Statistics", "Verdict"]

SCHEMA = "overlap_lab.comparison/1"
_ROWS: Final = 12
_LINES: Final = 6


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    DIFFERENT = "different"
    """Not the same, and neither direction of this measure is better."""
    UNDECIDED = "undecided"
    """Chance explains the difference as well, or there are too few observations; the reason says which."""
    INCOMPARABLE = "incomparable"
    """One side has no value, or the sides were not made alike; the reason says why."""


_CHANGED: Final = (Verdict.BETTER, Verdict.WORSE, Verdict.DIFFERENT)


class Sampling(StrEnum):
    """What a verdict rests on."""

    SINGLE_RUN = "single run"
    """One observation a side: an exact difference of these two runs, silent about the next two."""
    STEPS = "steps"
    RANGES = "range instances"
    REPEATS = "repeats"
    PAIRED_STEPS = "paired steps"
    PAIRED_RANGES = "paired range instances"
    PAIRED_REPEATS = "paired repeats"

    @property
    def is_paired(self) -> bool:
        return self.value.startswith("paired ")

    @property
    def unit(self) -> str:
        """What one observation is called, as in "20 steps"."""
        return self.value.removeprefix("paired ")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a verdict about chance rests on; in the measure's own unit but for `p` and `delta`."""

    observations: tuple[int, int]
    """How many of the baseline and of the candidate."""
    low: float
    """With `high`: bootstrap interval of the difference, at the comparison's confidence."""
    high: float
    p: float
    """Of the Mann-Whitney test, or of the sign test for pairs; adjusted by Holm's method for all measures but
    the headline."""
    delta: float
    """Cliff's delta."""
    noise_floor: float
    """What a difference has to exceed: how far the sides wander by themselves."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of both sides: the runs' values, or the medians of the observations.

    `difference` is candidate minus baseline; `ratio` is candidate over baseline, unless one is negative or
    the baseline is zero.
    """

    tag: str
    scope: Scope
    title: str
    unit: str
    better: Better
    baseline: int | float | None
    candidate: int | float | None
    difference: int | float | None
    ratio: float | None
    verdict: Verdict
    reason: str | None = None
    statistics: Statistics | None = None
    """None for one run a side, and for counts that are the same in every observation: those are exact."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A device's window difference as a sum: `window == busy + sum(idle.values())`, all in ns.

    Of samples it is the difference between typical windows: the means over the middle half of each side's
    windows by length. `window + remainder` is the headline's difference.
    """

    scope: Scope
    baseline_ns: int
    candidate_ns: int
    window: int
    busy: int
    idle: Mapping[Cause, int]
    drained: Mapping[str, int] = field(default_factory=dict)
    """Part of `idle[Cause.DRAIN]` for each place that waits, the largest first; they sum to it."""
    remainder: int = 0
    """What the typical windows do not show of the headline's difference."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against a baseline. `notes` say what makes the two hard to compare, if anything does."""

    baseline: Mapping[str, object]
    candidate: Mapping[str, object]
    """The `source` of each side's report, of the first where a side has several."""
    sampling: Sampling
    explanations: tuple[Explanation, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    headline: Difference | None = None
    """The measure that the comparison is about, tested alone; None for one run a side."""
    confidence: float = 0.95
    said: tuple[str, str] = ("", "")
    """The verdict of each side's report, of the first where a side has several."""

    def __str__(self) -> str:
        from overlap_lab.render.compare_text import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        """The first lines of the printed comparison, then what differs, with intervals."""
        first, _, rest = str(self).partition("\n")
        lines = [line for line in rest.splitlines() if line.strip()]
        changed = [one for one in self.differences if one.verdict in _CHANGED]
        rows = [
            (
                one.title,
                one.verdict.upper(),
                _words(one, one.baseline),
                _words(one, one.candidate),
                _interval(one),
            )
            for one in changed[:_ROWS]
        ]
        table = grid(
            ["measure", "verdict", "baseline", "candidate", "difference"], rows, more=len(changed) - len(rows)
        )
        said = grid([""], [[line.strip()] for line in lines[:_LINES]])
        return card(f"Comparison by {self.sampling}", first.strip(), said, table)

    def __repr__(self) -> str:
        changed = sum(one.verdict in _CHANGED for one in self.differences)
        first = f"{self.headline.verdict}, " if self.headline else ""
        return f"Comparison({first}{self.sampling}, {changed} of {len(self.differences)} measures differ)"

    @property
    def verdict(self) -> Verdict | None:
        """The headline's verdict; None for one run a side, which has none about chance."""
        return self.headline.verdict if self.headline else None

    def difference(self, tag: str, **scope: int) -> Difference | None:
        """The difference with exactly this tag and scope, None where neither side has it."""
        return next((d for d in self.differences if d.tag == tag and dict(d.scope) == scope), None)


def _words(one: Difference, value: int | float | None) -> str:
    if value is None:
        return "n/a"
    return format_ns(round(value)) if one.unit == "ns" else f"{value:,.4g}"


def _interval(one: Difference) -> str:
    if one.statistics is None:
        return _words(one, one.difference)
    return f"{_words(one, one.statistics.low)} to {_words(one, one.statistics.high)}"
