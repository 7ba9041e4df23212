"""Counts of whole runs with what of them is certain: a busy machine makes waits and drains of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.analyze import measurements_of
from overlap_lab.columns import Ints
from overlap_lab.compare.certain import chance_words, that_drained, unsure_waits
from overlap_lab.compare.check import ABOUT_DRAINS, ABOUT_WAITS
from overlap_lab.compare.culprits import waits_inside
from overlap_lab.compare.samples import Key, Run
from overlap_lab.metrics.context import Context
from overlap_lab.report import Measurement

__all__ = ["Count", "certain_counts", "chance_in", "counts_of"]

_BY_DRAINS: Final = (True, False)


@dataclass(frozen=True, slots=True)
class Count:
    """A count of several runs: in each `certain`, and at most `most`."""

    certain: int
    most: int


def certain_counts(run: Run) -> dict[Key, int]:
    """The counts of a run that are smaller without the waits that may be chance."""
    if run.stored is not None:
        return dict(run.stored.certain)
    if run.context is None:
        return {}
    every = {(m.tag, tuple(sorted(m.scope.items()))): m for m in run.report.measurements if m.unit == "count"}
    found: dict[Key, int] = {}
    for drained in _BY_DRAINS:
        for measured in _without_chance(run.context, drained=drained):
            key = measured.tag, tuple(sorted(measured.scope.items()))
            about = measured.tag.startswith(ABOUT_DRAINS) is drained and measured.tag.startswith(ABOUT_WAITS)
            if about and key in every and measured.value is not None and measured.value != every[key].value:
                found[key] = int(measured.value)
    return found


def _without_chance(context: Context, *, drained: bool) -> Sequence[Measurement]:
    unsure = unsure_waits(context, drained=drained)
    if not unsure.size:
        return ()
    keep = np.ones(context.waits.row.size, np.bool_)
    keep[unsure] = False
    return measurements_of(context.with_waits(keep))


def counts_of(key: Key, runs: Sequence[Run], certain: Sequence[dict[Key, int]]) -> Count | None:
    """One count for all of the runs; None where a run has no value, or where what is certain varies."""
    most = [_value(key, run) for run in runs]
    if None in most:
        return None
    known = [value for value in most if value is not None]
    lows = {one.get(key, value) for one, value in zip(certain, known, strict=True)}
    return Count(lows.pop(), max(known)) if len(lows) == 1 else None


def _value(key: Key, run: Run) -> int | None:
    tag, scope = key
    found = (
        m.value for m in run.report.measurements if m.tag == tag and tuple(sorted(m.scope.items())) == scope
    )
    value = next(found, None)
    return None if value is None else int(value)


def chance_in(tag: str, context: Context) -> tuple[Ints, str]:
    """The waits behind a count that may be chance, and what they are in words."""
    drained = tag.startswith(ABOUT_DRAINS)
    unsure = np.intersect1d(unsure_waits(context, drained=drained), waits_inside(context, None))
    unsure = that_drained(context, unsure) if drained else unsure
    return unsure, chance_words(context, unsure)
