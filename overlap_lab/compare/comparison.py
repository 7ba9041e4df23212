"""The values that a comparison is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from overlap_lab.report import Better, Scope
from overlap_lab.schema import Cause

__all__ = ["SCHEMA", "Comparison", "Difference", "Explanation", "Sampling", "Verdict"]

SCHEMA = "overlap_lab.comparison/1"


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    DIFFERENT = "different"
    """Not the same, and neither direction of this measure is better."""
    INCOMPARABLE = "incomparable"
    """One side has no value; the reason says why."""


class Sampling(StrEnum):
    """What a verdict rests on."""

    SINGLE_RUN = "single run"
    """One observation a side: an exact difference of these two runs, silent about the next two."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of both sides.

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


@dataclass(frozen=True, slots=True)
class Explanation:
    """A device's window difference as a sum: `window == busy + sum(idle.values())`, all in ns."""

    scope: Scope
    baseline_ns: int
    candidate_ns: int
    window: int
    busy: int
    idle: Mapping[Cause, int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against a baseline. `notes` say what makes the two hard to compare, if anything does."""

    baseline: Mapping[str, object]
    candidate: Mapping[str, object]
    """The `source` of each side's report."""
    sampling: Sampling
    explanations: tuple[Explanation, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        changed = sum(one.verdict not in (Verdict.SAME, Verdict.INCOMPARABLE) for one in self.differences)
        return f"Comparison({self.sampling}, {changed} of {len(self.differences)} measures differ)"

    def difference(self, tag: str, **scope: int) -> Difference | None:
        """The difference with exactly this tag and scope, None where neither side has it."""
        return next((d for d in self.differences if d.tag == tag and dict(d.scope) == scope), None)
