"""What a profiler costs: the same work with and without it, in turns, and the interval of the difference."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Final

__all__ = ["Overhead", "overhead"]

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds of a work with and without a profiler, and what the pairs say of the difference."""

    without: float
    recorded: float
    """Medians of both."""
    difference: float
    """Median of the pairs' differences, recorded minus without."""
    interval: tuple[float, float]
    """Of the difference: distribution-free, from the signed ranks of the pairs; the pairs' own range where
    there are too few for 95 %."""
    pairs: int

    @property
    def share(self) -> float:
        """The difference as a part of the time without the profiler."""
        return self.difference / self.without if self.without else 0.0

    @property
    def verdict(self) -> str:
        """Whether the pairs can tell the cost from none."""
        if self.pairs < smallest_sample():
            return f"UNDECIDED, {smallest_sample()} pairs are the fewest that can decide"
        low, high = self.interval
        if low > 0:
            return "it slows the program down"
        return (
            "it is faster with it, so something else differs" if high < 0 else "UNDECIDED, within the noise"
        )


def overhead(without: Callable[[], float], recorded: Callable[[], float], *, pairs: int) -> Overhead:
    """Call both, in turns and each pair in another order, and compare the seconds that they return."""
    plain, profiled = [], []
    for pair in range(pairs):
        if pair % 2:
            profiled.append(recorded())
            plain.append(without())
        else:
            plain.append(without())
            profiled.append(recorded())
    differences = [one - other for one, other in zip(profiled, plain, strict=True)]
    return Overhead(
        statistics.median(plain),
        statistics.median(profiled),
        statistics.median(differences),
        _interval(differences),
        pairs,
    )


def smallest_sample() -> int:
    """The fewest pairs whose signed ranks can reach the confidence: n of them leave 2**(1-n) outside."""
    pairs = 1
    while 2.0 ** (1 - pairs) > 1 - _CONFIDENCE:
        pairs += 1
    return pairs


def _interval(differences: list[float]) -> tuple[float, float]:
    """Of the differences' centre: order statistics of their pairwise means (Wilcoxon, Hodges-Lehmann)."""
    means = sorted((a + b) / 2 for a, b in combinations_with_replacement(differences, 2))
    skipped = _ranks_outside(len(differences))
    return means[skipped], means[len(means) - 1 - skipped]


def _ranks_outside(pairs: int) -> int:
    """How many of the smallest means lie outside, so that both tails together hold at most 5 %."""
    counts = [1] + [0] * comb(pairs + 1, 2)
    for rank in range(1, pairs + 1):  # how many of the 2**pairs sign patterns have each sum of ranks
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    tail, last = 0, 0
    for total, count in enumerate(counts):
        tail += count
        if 2 * tail > (1 - _CONFIDENCE) * 2**pairs:
            break
        last = total
    return last
