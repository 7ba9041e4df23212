"""The values that a check of a budget is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from overlap_lab.compare.baseline_rules import BaselineRule
from overlap_lab.compare.budget import Allowance, Rule
from overlap_lab.compare.comparison import Comparison
from overlap_lab.metrics.python_frames import Frame, frame_in
from overlap_lab.report import Cell

__all__ = ["SCHEMA", "Against", "Check", "Checked", "Compared", "Culprit", "Outcome", "Passed"]

SCHEMA = "overlap_lab.check/1"


class Outcome(StrEnum):
    FINE = "fine"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
    """The observations lie on both sides of the limit, or are too few; the reason says which."""
    NO_VALUE = "no value"
    """The measure is null in this trace, and the reason says why: a budget on it fails."""
    INCOMPARABLE = "incomparable"
    """The baseline is of another kind of machine, driver or tool, or lacks the value: the reason says it."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """Waits of one place that a violated rule counts, with what they cost together."""

    call: str
    reason: str
    count: int
    blocked_ns: int
    idle_ns: int
    """Device idle after them, until new work ran: the sum of `parts_ns`."""
    drains: int
    device: int | None
    stream: int | None
    """The stream that the costliest of them drained or waited for, where the file says so."""
    range_name: str | None
    op: str | None
    stack: tuple[str, ...] = ()
    """Python frames around the costliest of them, outermost first, as the trace spells them."""
    parts_ns: tuple[int, int, int] = (0, 0, 0)
    """Of `idle_ns` until the waits returned, until the host launched again, and until that launch ran."""

    @property
    def frame(self) -> Frame | None:
        """The innermost place in the user's own files, else in any file."""
        frames = self.frames
        return next((frame for frame in frames if frame.is_own), next(iter(frames), None))

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The places in files, innermost first."""
        return tuple(frame for name in reversed(self.stack) if (frame := frame_in(name)))


@dataclass(frozen=True, slots=True)
class Against:
    """The other side of a rule about a baseline."""

    value: int | float
    """The baseline's value, of several observations their median."""
    observations: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A rule and what the trace says to it."""

    rule: Rule | BaselineRule
    outcome: Outcome
    value: int | float | None
    """The value, of several observations what `statistic` says; in the measure's unit."""
    observations: int
    low: float | None = None
    """With `high`: interval of the median at 95 %, where there are several observations; of a rule about a
    baseline, of the difference."""
    high: float | None = None
    reason: str = ""
    culprits: tuple[Culprit, ...] = ()
    """Where the rule is violated and waits are why: the costliest places first, at most five."""
    places: int = 0
    """How many places there are in all, of which `culprits` are the costliest."""
    drains: int = 0
    """How many drains all those places have."""
    against: Against | None = None
    """Of a rule about a baseline, where both sides have a value."""
    statistic: str = ""
    """Of several observations which one `value` is: "median", "worst" or "largest"."""
    where: str = ""
    """Where the worst one was: a step's name, the number of a range's instance or of a trace."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The baseline that rules were held against."""

    name: str
    """The name that was asked for, with the number of the one that was found."""
    machine: str
    created: str = ""
    commit: str = ""
    comparison: Comparison | None = None
    """None where it cannot be made."""


@dataclass(frozen=True, slots=True)
class Passed:
    """What an allowance took out of every rule; a call that several would take is the first one's."""

    allowance: Allowance
    waits: int
    blocked_ns: int
    """For how long those waits blocked the host."""
    late: int
    """Synchronizes that came late: they would have waited for a faster host."""


@dataclass(frozen=True, slots=True)
class Check:
    """A budget held against one trace."""

    source: Mapping[str, Cell | object]
    """Of the trace's report."""
    checked: tuple[Checked, ...]
    allowed: tuple[Passed, ...] = ()
    """What each allowance of the budget let pass."""
    budget: str = ""
    """The file of the budget, empty where there is none."""
    compared: Compared | None = None

    @property
    def failed(self) -> tuple[Checked, ...]:
        return tuple(one for one in self.checked if one.outcome in (Outcome.VIOLATED, Outcome.NO_VALUE))

    @property
    def undecided(self) -> tuple[Checked, ...]:
        """Rules without a verdict: UNDECIDED and INCOMPARABLE."""
        open_ones = (Outcome.UNDECIDED, Outcome.INCOMPARABLE)
        return tuple(one for one in self.checked if one.outcome in open_ones)

    @property
    def outcome(self) -> Outcome:
        """VIOLATED where any rule failed, else UNDECIDED or INCOMPARABLE where any is, else FINE."""
        if self.failed:
            return Outcome.VIOLATED
        found = [one.outcome for one in self.undecided]
        if Outcome.UNDECIDED in found:
            return Outcome.UNDECIDED
        return Outcome.INCOMPARABLE if found else Outcome.FINE
