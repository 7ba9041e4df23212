"""Runs in pairs: what is compared runs in turn, again and again, so that a busy machine slows all of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Failed", "Rounds", "timed_rounds"]

LIMIT_S: Final = 60.0
Timed = Callable[[], float]
"""Runs once, and says how many seconds that took."""


class Failed(Exception):
    """A work that ended without a result, and why."""


@dataclass(frozen=True)
class Rounds:
    """Seconds of each work, one number a round, and why the works that failed did."""

    seconds: Mapping[str, tuple[float, ...]]
    failures: Mapping[str, str]

    def median(self, work: str) -> float:
        return statistics.median(self.seconds[work])

    def ratio(self, work: str, other: str) -> float:
        """How many runs of `work` fit into one of `other`: the median of the rounds' own ratios."""
        pairs = zip(self.seconds[work], self.seconds[other], strict=True)
        return statistics.median(another / own for own, another in pairs)


def timed_rounds(works: Mapping[str, Timed], rounds: int, *, limit_s: float = LIMIT_S) -> Rounds:
    """Every work once a round; who fails is left out from there on.

    Odd rounds run them backwards, so that none always follows the same one. None begins after the limit.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    failures: dict[str, str] = {}
    start = time.monotonic()
    for number in range(rounds):
        if number and time.monotonic() - start > limit_s:
            break
        names = [name for name in works if name not in failures]
        for name in reversed(names) if number % 2 else names:
            try:
                found[name].append(works[name]())
            except Failed as failed:
                failures[name] = str(failed)
    ran = {name: tuple(seconds) for name, seconds in found.items() if name not in failures}
    return Rounds(ran, failures)
