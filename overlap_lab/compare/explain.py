"""Where the difference between two sets of windows comes from: busy, idle by cause, and whose drains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlap_lab.compare.comparison import Difference, Explanation
from overlap_lab.compare.samples import HEADLINE, PARTS, Windows
from overlap_lab.compare.single_run import largest_first
from overlap_lab.intervals import Ints
from overlap_lab.schema import Cause

__all__ = ["explanations_of"]

Place = tuple[tuple[str, int], ...]


def explanations_of(
    baseline: Windows, candidate: Windows, differences: tuple[Difference, ...]
) -> Iterator[Explanation]:
    """One for each device that both sides measured whole."""
    for tag, place in baseline.values:
        if tag != HEADLINE:
            continue
        sides = [_typical(side, place) for side in (baseline, candidate)]
        if None in sides:
            continue
        before, after = (side for side in sides if side is not None)
        change = {name: after[name] - before[name] for name in before}
        said = next((d.difference for d in differences if d.tag == HEADLINE and _place(d) == place), None)
        window = sum(change.values())
        yield Explanation(
            scope=dict(place),
            baseline_ns=sum(before.values()),
            candidate_ns=sum(after.values()),
            window=window,
            busy=change["device/busy"],
            idle={cause: change[f"device/idle/{cause}"] for cause in Cause},
            drained=_drained(baseline, candidate, place, change[f"device/idle/{Cause.DRAIN}"]),
            remainder=0 if said is None else round(said) - window,
        )


def _place(difference: Difference) -> Place:
    return tuple(sorted(difference.scope.items()))


def _middle(side: Windows, place: Place) -> Ints:
    """The windows of the middle half by length, so that rare long ones do not stand for all."""
    order = np.argsort(side.values[HEADLINE, place], kind="stable")
    cut = order.size // 4
    return np.asarray(order[cut : order.size - cut])


def _typical(side: Windows, place: Place) -> dict[str, int] | None:
    """Mean of each part over the middle half; None where a part is not known."""
    columns = {tag: side.values.get((tag, place)) for tag in PARTS}
    if any(column is None or not np.isfinite(column).all() for column in columns.values()):
        return None
    mine = _middle(side, place)
    return {
        tag: round(float(column[mine].mean()))
        for tag, column in columns.items()
        if column is not None and tag != HEADLINE
    }


def _drained(baseline: Windows, candidate: Windows, place: Place, total: int) -> dict[str, int]:
    names = dict.fromkeys(name for side in (baseline, candidate) for at, name in side.drained if at == place)
    means = [{name: _mean(side, place, name) for name in names} for side in (baseline, candidate)]
    return largest_first({name: round(means[1][name] - means[0][name]) for name in names}, total)


def _mean(side: Windows, place: Place, name: str) -> float:
    column = side.drained.get((place, name))
    return 0.0 if column is None else float(column[_middle(side, place)].mean())
