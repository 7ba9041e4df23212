"""Two sets of observations -> a comparison whose verdicts are about chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from overlap_lab.compare.comparison import Comparison, Difference, Sampling, Statistics, Verdict
from overlap_lab.compare.explain import explanations_of
from overlap_lab.compare.reasons import decided, narrow, too_few, undecided
from overlap_lab.compare.samples import HEADLINE, Key, Samples
from overlap_lab.compare.single_run import verdict_of
from overlap_lab.compare.statistics import (
    FEWEST,
    OTHER_RUN,
    SAME_RUN,
    Floats,
    evidence,
    paired_evidence,
)
from overlap_lab.metrics.catalog import entry
from overlap_lab.report import Report

__all__ = ["FEWEST_PAIRS", "Rules", "compare_samples"]

FEWEST_PAIRS: Final = 6
"""Five pairs that all go one way have p = 0.06 by the sign test."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How observations are weighed."""

    sampling: Sampling
    seed: int = 0
    confidence: float = 0.95
    incomparable: tuple[str, ...] = ()
    """Why there can be no verdict, if there is a reason."""
    other_session: bool = False
    """One side was stored earlier: how sessions differ is in neither side's repeats."""

    @property
    def fewest(self) -> int:
        return FEWEST_PAIRS if self.sampling.is_paired else FEWEST

    @property
    def floors(self) -> float:
        one_session = self.sampling is Sampling.REPEATS and not self.other_session
        return SAME_RUN if one_session else OTHER_RUN


def compare_samples(
    reports: tuple[Report, Report],
    sides: tuple[Samples, Samples],
    rules: Rules,
    notes: Sequence[str],
) -> Comparison:
    """Every measure of either side, the headline tested alone and the others together.

    `reports` are those of each side's first run.
    """
    left, right = sides
    keys = [key for key in dict.fromkeys([*left.values, *right.values]) if _is_shown(key, left, right)]
    plain = {key: _medians(key, left, right) for key in keys}
    both = [key for key in keys if plain[key].reason is None]
    exact = {key for key in both if key[0] != HEADLINE and _is_exact(key, left, right)}
    tested = [key for key in both if key not in exact]
    found = _weighed(tested, left, right, rules)
    differences = tuple(
        plain[key]
        if key in exact and not rules.incomparable
        else _judged(plain[key], found.get(key), rules, _counted(key, left, right))
        for key in keys
    )
    headline = next((d for d in differences if d.tag == HEADLINE), None)
    return Comparison(
        baseline=reports[0].source,
        candidate=reports[1].source,
        sampling=rules.sampling,
        explanations=tuple(explanations_of(left.windows, right.windows, differences)),
        differences=differences,
        notes=(*notes, *_tested_words(found)),
        headline=headline,
        confidence=rules.confidence,
        said=(reports[0].verdict, reports[1].verdict),
    )


def _tested_words(found: Mapping[Key, _Weighed]) -> list[str]:
    others = len(found) - 1
    if others < 1:
        return []
    return [
        f"{HEADLINE} is the headline and tested alone; for the {others} other measures tested, p is adjusted "
        "(Holm), so that all of them together raise a false alarm no more often than one"
    ]


def _is_shown(key: Key, left: Samples, right: Samples) -> bool:
    return key in left.values or key in right.values


def _medians(key: Key, left: Samples, right: Samples) -> Difference:
    tag, scope = key
    known = entry(tag)
    values = [side.values.get(key) for side in (left, right)]
    missing = [
        f"{name}: {'not measured' if value is None else 'no value in every observation'}"
        for name, value in zip(("baseline", "candidate"), values, strict=True)
        if value is None or not np.isfinite(value).all()
    ]
    medians = [None if value is None else _number(value, known.unit) for value in values]
    before, after = medians
    difference = None if missing or before is None or after is None else after - before
    return Difference(
        tag=tag,
        scope=dict(scope),
        title=known.title,
        unit=known.unit,
        better=known.better,
        baseline=before,
        candidate=after,
        difference=difference,
        ratio=_ratio(before, after) if difference is not None else None,
        verdict=verdict_of(difference, known.better),
        reason="; ".join(missing) or None,
    )


def _ratio(before: float | None, after: float | None) -> float | None:
    return after / before if before and after is not None and before > 0 and after >= 0 else None


def _number(values: Floats, unit: str) -> int | float | None:
    median = float(np.median(values))
    if not np.isfinite(median):
        return None
    return round(median) if unit == "ns" or (unit == "count" and median.is_integer()) else median


def _is_exact(key: Key, left: Samples, right: Samples) -> bool:
    """A count that is the same in every observation of each side needs no statistics, and neither does
    another measure that is one and the same in all of them, as a cause that never occurs."""
    before, after = left.values[key], right.values[key]
    constant = bool((before == before[0]).all() and (after == after[0]).all())
    return constant and (entry(key[0]).unit == "count" or bool(before[0] == after[0]))


def _counted(key: Key, left: Samples, right: Samples) -> str:
    """How a count varies among observations, where it does."""
    if entry(key[0]).unit != "count" or key not in left.values or key not in right.values:
        return ""
    ends = [(np.min(side.values[key]), np.max(side.values[key])) for side in (left, right)]
    if not np.isfinite(ends).all() or all(low == high for low, high in ends):
        return ""
    return "the count varies: " + " against ".join(
        f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}" for low, high in ends
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    difference: float
    differs: bool
    is_narrow: bool
    statistics: Statistics


def _weighed(keys: list[Key], left: Samples, right: Samples, rules: Rules) -> dict[Key, _Weighed]:
    """All the measures at once; none where there are too few observations."""
    if not keys or min(left.size, right.size) < rules.fewest:
        return {}
    before, after = (np.stack([side.values[key] for key in keys]) for side in (left, right))
    alpha = 1 - rules.confidence
    if rules.sampling.is_paired:
        found = paired_evidence(before, after, seed=rules.seed, alpha=alpha)
    else:
        found = evidence(before, after, floors=rules.floors, seed=rules.seed, alpha=alpha)
    found = replace(found, p=_holm(keys, found.p))
    differs, is_narrow = found.differs, found.is_narrow
    return {
        key: _Weighed(
            difference=float(found.difference[at]),
            differs=bool(differs[at]),
            is_narrow=bool(is_narrow[at]),
            statistics=Statistics(
                observations=(left.size, right.size),
                low=float(found.low[at]),
                high=float(found.high[at]),
                p=float(found.p[at]),
                delta=float(found.delta[at]),
                noise_floor=float(found.floor[at]),
            ),
        )
        for at, key in enumerate(keys)
    }


def _holm(keys: list[Key], found: Floats) -> Floats:
    """p of the headline, the first device's window, as it is; of the others adjusted, so that one of them all
    is false no more often than the headline."""
    p = np.array(found, np.float64)
    first = next((at for at, key in enumerate(keys) if key[0] == HEADLINE), None)
    others = np.array([at for at in range(len(keys)) if at != first], np.int64)
    order = others[np.argsort(p[others], kind="stable")]
    if order.size:
        steps = p[order] * np.arange(order.size, 0, -1)
        p[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return p


def _judged(plain: Difference, found: _Weighed | None, rules: Rules, counted: str) -> Difference:
    if plain.reason is not None:
        return plain
    if rules.incomparable:
        statistics = found.statistics if found else None
        reason = "; ".join(rules.incomparable)
        return replace(plain, statistics=statistics, verdict=Verdict.INCOMPARABLE, reason=reason)
    if found is None:
        return replace(plain, verdict=Verdict.UNDECIDED, reason=too_few(rules.sampling, rules.fewest))
    change = round(found.difference) if plain.unit == "ns" else found.difference
    plain = replace(plain, difference=change, statistics=found.statistics)
    if found.differs:
        verdict, reason = verdict_of(change, plain.better), decided(plain, found.statistics)
    elif found.is_narrow:
        verdict, reason = Verdict.SAME, narrow(plain, found.statistics)
    else:
        verdict, reason = (
            Verdict.UNDECIDED,
            undecided(plain, found.statistics, rules.sampling, 1 - rules.confidence),
        )
    return replace(plain, verdict=verdict, reason="; ".join(filter(None, (reason, counted))))
