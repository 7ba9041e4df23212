"""Two sets of observations -> how they differ and whether chance explains it. Every row is one comparison.

The rules are calibrated on recorded step times, which follow each other, have heavy tails and drift
(docs/comparison.md). Textbook tests take each observation for independent; on those they raise a false alarm
in up to 85 % of the comparisons of a program with itself.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from overlap_lab.errors import MissingDependency
from overlap_lab.progress import each

__all__ = [
    "ALPHA",
    "FEWEST",
    "MARGIN",
    "OTHER_RUN",
    "RESAMPLES",
    "SAME_RUN",
    "Evidence",
    "Floats",
    "cliffs_delta",
    "effective_size",
    "evidence",
    "median_interval",
    "paired_evidence",
    "wander",
]

Floats = npt.NDArray[np.float64]

ALPHA: Final = 0.05
FEWEST: Final = 5
"""Observations that each side needs before a verdict about chance is tried."""
MARGIN: Final = 0.05
"""An interval that lies within this share of the baseline on both sides of zero is narrow: nothing larger
is hidden in it."""
SAME_RUN: Final = 1.5
"""Noise floor, in wanders, of observations that sample what differs between runs: repeats."""
OTHER_RUN: Final = 5.0
"""Noise floor, in wanders, of steps or ranges of one run a side: how runs differ is not in such data, and
runs of one program differ by more than the parts of one run."""
RESAMPLES: Final = 2_000
_FEWEST_RESAMPLES: Final = 400
_MOST_RESAMPLED: Final = 2_000_000
"""Values that the resamples of one side hold together: of thousands of steps fewer resamples are drawn."""
_AT_ONCE: Final = 2_000_000
"""Resampled values held in memory together."""
_PARTS: Final = 4
_MOST_LAGS: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One entry for each comparison; everything in the unit of the observations but `p` and `delta`."""

    baseline: Floats
    """Median."""
    candidate: Floats
    difference: Floats
    """Of the medians; of pairs, the median of their differences."""
    low: Floats
    """With `high`: bootstrap 95 % interval of `difference`."""
    high: Floats
    p: Floats
    """Mann-Whitney, corrected for observations that resemble their neighbours; of pairs, the sign test."""
    delta: Floats
    """Cliff's delta: the chance that a candidate observation is larger, minus that it is smaller."""
    floor: Floats
    """A difference has to be larger than this; half the interval where pairs cancel the drift."""
    alpha: float = ALPHA

    @property
    def differs(self) -> npt.NDArray[np.bool_]:
        """Whether p, interval and noise floor all say that this is more than chance."""
        beyond = (self.low > 0) | (self.high < 0)
        return np.asarray((self.p < self.alpha) & beyond & (np.abs(self.difference) > self.floor))

    @property
    def is_narrow(self) -> npt.NDArray[np.bool_]:
        """Whether neither the interval nor the noise floor leaves room for a difference of MARGIN."""
        room = MARGIN * np.abs(self.baseline)
        widest = np.maximum(np.maximum(np.abs(self.low), np.abs(self.high)), self.floor)
        return np.asarray(widest <= room)


def evidence(
    baseline: Floats,
    candidate: Floats,
    *,
    floors: float,
    seed: int,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
) -> Evidence:
    """Of observations in time order, rows of (comparisons, observations), one side after the other."""
    low, high = median_interval((baseline, candidate), seed=seed, alpha=alpha, resamples=resamples)
    before, after = np.median(baseline, -1), np.median(candidate, -1)
    return Evidence(
        baseline=before,
        candidate=after,
        difference=after - before,
        low=low,
        high=high,
        p=_rank_p(baseline, candidate),
        delta=cliffs_delta(baseline, candidate),
        floor=floors * np.maximum(wander(baseline), wander(candidate)),
        alpha=alpha,
    )


def paired_evidence(
    baseline: Floats, candidate: Floats, *, seed: int, alpha: float = ALPHA, resamples: int = RESAMPLES
) -> Evidence:
    """Of pairs that ran next to each other: what the machine did to one it did to the other, too.

    The sign test asks for nothing but that either of the two could as well have been the slower one.
    """
    differences = candidate - baseline
    low, high = median_interval((differences,), seed=seed, alpha=alpha, resamples=resamples)
    return Evidence(
        baseline=np.median(baseline, -1),
        candidate=np.median(candidate, -1),
        difference=np.median(differences, -1),
        low=low,
        high=high,
        p=_sign_p(differences),
        delta=cliffs_delta(baseline, candidate),
        floor=(high - low) / 2,
        alpha=alpha,
    )


def median_interval(
    sides: tuple[Floats, ...], *, seed: int, alpha: float = ALPHA, resamples: int = RESAMPLES
) -> tuple[Floats, Floats]:
    """Percentile bootstrap: 95 % interval of the median of one side, or of two sides' difference of medians.

    Two sides are resampled in blocks of neighbours, about as long as the square root of their number, since
    neighbours resemble each other; single values, as scipy.stats.bootstrap draws them, would make the
    interval too narrow. One side holds differences of pairs, which do not, and is resampled one by one.
    """
    largest = max(side.shape[-1] for side in sides)
    resamples = min(resamples, max(_FEWEST_RESAMPLES, _MOST_RESAMPLED // largest))
    random = np.random.default_rng(seed)
    totals = [
        _resampled_medians(side, 1 if len(sides) == 1 else _block(side.shape[-1]), random, resamples)
        for side in sides
    ]
    spread = totals[0] if len(totals) == 1 else totals[1] - totals[0]
    edges = np.quantile(spread, [alpha / 2, 1 - alpha / 2], axis=-1)
    return edges[0], edges[1]


def _block(size: int) -> int:
    return max(1, math.isqrt(size))


def _resampled_medians(side: Floats, block: int, random: np.random.Generator, resamples: int) -> Floats:
    """Medians of resamples, (comparisons, resamples); blocks reach round the end."""
    size = side.shape[-1]
    start = random.integers(0, size, (resamples, -(-size // block)))
    index = (start[:, :, None] + np.arange(block)).reshape(resamples, -1)[:, :size] % size
    pieces = np.array_split(index, -(-index.size // _AT_ONCE))
    rows = [np.concatenate([np.median(row[i], axis=-1) for i in pieces]) for row in each(np.atleast_2d(side))]
    return np.stack(rows).reshape(*side.shape[:-1], resamples)


def wander(side: Floats) -> Floats:
    """How far the medians of four successive parts lie apart: what the side does by itself over time."""
    edges = np.linspace(0, side.shape[-1], _PARTS + 1).astype(int)
    medians = [np.median(side[..., a:b], -1) for a, b in itertools.pairwise(edges) if b > a]
    return np.asarray(np.ptp(np.stack(medians, -1), axis=-1))


def cliffs_delta(baseline: Floats, candidate: Floats) -> Floats:
    """From -1, every candidate observation below every one of the baseline, to 1, above."""
    size = baseline.shape[-1] * candidate.shape[-1]
    ordered = np.sort(baseline, -1)
    rows = zip(np.atleast_2d(ordered), np.atleast_2d(candidate), strict=True)
    sums = [
        (np.searchsorted(a, b, side="left") + np.searchsorted(a, b, side="right") - a.size).sum()
        for a, b in rows
    ]
    return np.asarray(np.asarray(sums, np.float64).reshape(baseline.shape[:-1]) / size)


def effective_size(side: Floats) -> Floats:
    """How many independent observations say as much: n / (1 + 2 x the sum of the autocorrelations of the
    ranks, up to the first that is not positive), at most n."""
    from_rank = _scipy("comparing samples").rankdata(side, axis=-1)
    size = side.shape[-1]
    centred = from_rank - from_rank.mean(-1, keepdims=True)
    power = np.maximum((centred**2).sum(-1), 1e-12)
    total = np.zeros(side.shape[:-1])
    positive = np.ones(side.shape[:-1], np.bool_)
    for lag in range(1, min(size - 1, _MOST_LAGS) + 1):
        correlation = (centred[..., lag:] * centred[..., :-lag]).sum(-1) / power
        positive &= correlation > 0
        if not positive.any():
            break
        total += np.where(positive, correlation, 0.0)
    return np.asarray(size / (1 + 2 * total))


def _rank_p(baseline: Floats, candidate: Floats) -> Floats:
    """Mann-Whitney with its z shrunk by what the observations repeat of their neighbours."""
    stats = _scipy("comparing samples")
    p = stats.mannwhitneyu(baseline, candidate, axis=-1, method="asymptotic").pvalue
    size = baseline.shape[-1] + candidate.shape[-1]
    kept = np.minimum((effective_size(baseline) + effective_size(candidate)) / size, 1.0)
    z = stats.norm.isf(np.clip(p, 1e-300, 1.0) / 2) * np.sqrt(kept)
    return np.asarray(np.where(np.isnan(p), 1.0, 2 * stats.norm.sf(z)))


def _sign_p(differences: Floats) -> Floats:
    """Two-sided sign test; pairs without a difference count for neither side."""
    stats = _scipy("comparing samples")
    up, down = (differences > 0).sum(-1), (differences < 0).sum(-1)
    return np.asarray(np.minimum(1.0, 2 * stats.binom.sf(np.maximum(up, down) - 1, up + down, 0.5)))


def _scipy(purpose: str) -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingDependency("scipy", purpose=purpose, extra="stats") from error
    return stats
