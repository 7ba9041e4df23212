"""Why a verdict is what it is, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from overlap_lab.compare.comparison import Difference, Sampling, Statistics
from overlap_lab.compare.statistics import MARGIN
from overlap_lab.render.values import format_value

__all__ = ["change_words", "decided", "listed", "narrow", "too_few", "undecided"]

_MOST_NAMES: Final = 16


def listed(names: Iterable[str]) -> str:
    """The first of the names, and how many more there are."""
    every = list(names)
    hidden = len(every) - _MOST_NAMES
    return ", ".join(every) if hidden <= 0 else f"{', '.join(every[:_MOST_NAMES])} and {hidden:,} more"


def change_words(value: float, difference: Difference, *, signed: bool = True) -> str:
    """A difference as a share of the baseline, or in its own unit where the baseline is nothing."""
    sign = "+" if signed and value > 0 else ""
    if difference.baseline and difference.unit != "ratio":
        return f"{sign}{100 * value / abs(difference.baseline):.1f} %"
    return f"{sign}{format_value(value, difference.unit)}"


def decided(difference: Difference, found: Statistics) -> str:
    """Why chance does not explain it."""
    change = change_words(difference.difference or 0, difference)
    floor = change_words(found.noise_floor, difference, signed=False)
    return f"{change}, {_interval(difference, found)}, p {found.p:.2g}, noise floor {floor}"


def narrow(difference: Difference, found: Statistics) -> str:
    """Why nothing that matters is hidden."""
    if found.low == found.high == difference.difference == 0:
        return "no difference in any observation"
    return f"any difference is smaller than {MARGIN:.0%}: {_interval(difference, found)}".replace("%:", " %:")


def undecided(difference: Difference, found: Statistics, sampling: Sampling, alpha: float) -> str:
    """What stands in the way of a verdict."""
    change = change_words(difference.difference or 0, difference)
    room = MARGIN * abs(difference.baseline or 0)
    if found.low <= 0 <= found.high:
        wide = " and is wide" if max(-found.low, found.high) > room else ""
        why = [f"the {_interval(difference, found)} straddles zero{wide}"]
    else:
        why = [f"{change}, {_interval(difference, found)}"]
    if found.p >= alpha:
        why.append(f"chance does as much with p {found.p:.2g}")
    if not sampling.is_paired and found.noise_floor > min(abs(difference.difference or 0), room):
        floor = change_words(found.noise_floor, difference, signed=False)
        why.append(f"noise floor {floor}: so far the sides wander by themselves")
    return "; ".join(why)


def too_few(sampling: Sampling, fewest: int) -> str:
    """How many observations a verdict takes."""
    what = f"pairs of {sampling.unit}" if sampling.is_paired else f"{sampling.unit} on each side"
    return f"too few observations: a verdict takes at least {fewest} {what}"


def _interval(difference: Difference, found: Statistics) -> str:
    low, high = (change_words(edge, difference) for edge in (found.low, found.high))
    of = " of the baseline" if low.endswith("%") else ""
    return f"interval {low} to {high}{of}"
