"""Long series as the few points that a screen can show. No plotly here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from overlap_lab.columns import Ints

__all__ = ["Envelope", "envelope", "share_below"]


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    time_ns: Ints
    value: Ints
    points: int
    """How many points there were."""

    @property
    def is_whole(self) -> bool:
        """Whether no point was left out."""
        return self.points == self.time_ns.size


def envelope(time_ns: Ints, value: Ints, *, pixels: int = 1_500) -> Envelope:
    """The points of a series in order of time; of each pixel the first, the last, the lowest, the highest.

    A line through them covers the same pixels as one through all points.
    """
    size = time_ns.size
    if size <= 4 * pixels:
        return Envelope(time_ns, value, size)
    width = max((int(time_ns[-1]) - int(time_ns[0])) // pixels, 1)
    pixel = (time_ns - time_ns[0]) // width
    first = np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]])
    last = np.r_[first[1:] - 1, size - 1]
    group = np.repeat(np.arange(first.size), np.diff(np.r_[first, size]))
    by_value = np.lexsort((value, group))
    keep = np.unique(np.concatenate([first, last, by_value[first], by_value[last]]))
    return Envelope(time_ns[keep], value[keep], size)


def share_below(values: Ints, *, points: int = 1_000) -> tuple[Ints, npt.NDArray[np.float64]]:
    """The distribution as a line: values, and the share of all that are at most so large."""
    ordered = np.sort(values)
    at = np.unique(np.linspace(0, ordered.size - 1, min(points, ordered.size)).round().astype(np.int64))
    last = np.searchsorted(ordered, ordered[at], side="right")
    return ordered[at], last / ordered.size
