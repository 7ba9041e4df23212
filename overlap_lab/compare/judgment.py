"""What the observations of a measure say to a rule."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from overlap_lab.compare.budget import Rule
from overlap_lab.compare.checked import Checked, Outcome
from overlap_lab.compare.statistics import Floats

__all__ = ["FEWEST", "judged"]

_MANY: Final = 10_000
FEWEST: Final = 5
"""So many observations on the wrong side of a limit are needed before several of them violate a rule."""


def judged(rule: Rule, observed: Floats, *, fewest: int = 1) -> Checked:
    """A rule and its observations: every count must hold, a time or ratio by the interval of its median."""
    size = observed.size
    if rule.unit == "count":
        broken = [value for value in observed.tolist() if not rule.relation.holds(value, rule.limit)]
        worst = max(broken, key=lambda value: abs(value - rule.limit), default=float(np.median(observed)))
        outcome = Outcome.VIOLATED if broken else Outcome.FINE
        statistic = "" if size == 1 else "worst" if broken else "median"
        reason = f"in {len(broken)} of {size} {rule.per}s" if broken and size > 1 else ""
        value = _as_unit(worst, rule.unit)
        return Checked(rule, outcome, value, size, reason=reason, statistic=statistic)
    median = _as_unit(float(np.median(observed)), rule.unit)
    low, high = _interval(observed)
    holds = [rule.relation.holds(edge, rule.limit) for edge in (low, high)]
    result = Checked(rule, Outcome.VIOLATED, median, size)
    if size > 1:
        result = replace(result, low=low, high=high, statistic="median")
    if all(holds):
        return replace(result, outcome=Outcome.FINE)
    if any(holds):
        why = f"{size} observations lie on both sides of the limit, within the noise"
        return replace(result, outcome=Outcome.UNDECIDED, reason=why)
    if size < fewest:
        plural = "" if size == 1 else "s"
        why = f"{size} observation{plural}, {fewest} are needed before a time can fail"
        return replace(result, outcome=Outcome.UNDECIDED, reason=why)
    return result


def _as_unit(value: float, unit: str) -> int | float:
    return round(value) if unit in ("ns", "count") else value


def _interval(observed: Floats) -> tuple[float, float]:
    """95 % interval of the median by order statistics, and as wide as the medians of four successive parts
    lie apart, since neighbours resemble each other; of fewer than six the whole range."""
    ordered = np.sort(observed)
    size = ordered.size
    skipped = _skipped(size)
    low, high = float(ordered[skipped]), float(ordered[size - 1 - skipped])
    if size >= 8:
        parts = [float(np.median(part)) for part in np.array_split(observed, 4)]
        low, high = min(low, *parts), max(high, *parts)
    return low, high


def _skipped(size: int) -> int:
    """How many of the smallest values lie below the interval: each tail of the binomial holds <= 2.5 %."""
    if size > _MANY:
        return int(size / 2 - 0.98 * math.sqrt(size)) - 1  # the normal curve, and one more to be safe
    tail, skipped, ways = 0, 0, 1
    for below in range(size // 2):
        tail += ways
        if tail * 40 > 1 << size:
            break
        ways = ways * (size - below) // (below + 1)
        skipped = below
    return skipped
