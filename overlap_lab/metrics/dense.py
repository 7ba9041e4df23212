"""Where most of some idle time lies close together: what to look at where it is spread over many gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, gather, order

__all__ = ["Spans", "Stretch", "densest_stretch", "no_spans"]

_MOST_TRIED: Final = 20_000
"""So many spans each begin a stretch and end one."""

Spans = tuple[Ints, Ints]
"""Starts and ends of idle spans, which lie apart from each other."""


def no_spans() -> Spans:
    """Spans of nothing."""
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time, and how much of some idle time lies in it."""

    start_ns: int
    end_ns: int
    idle_ns: int


def densest_stretch(spans: Spans, length_ns: int) -> Stretch | None:
    """The stretch of this length that holds most of the spans, the first of several; None of no spans.

    Of very many spans every n-th is tried: close by, stretches hold about as much.
    """
    start, end = spans
    if not start.size:
        return None
    if bool((start[1:] < start[:-1]).any()):
        by_time = order(start)
        start, end = gather(start, by_time), gather(end, by_time)
    # The best one begins where a span begins, or ends where one ends: moved from anywhere else it gains.
    step = -(-start.size // _MOST_TRIED)
    at = np.unique(np.concatenate((start[::step], end[::step] - length_ns)))
    inside = _idle_before(start, end, at + length_ns) - _idle_before(start, end, at)
    best = int(inside.argmax())
    return Stretch(int(at[best]), int(at[best]) + length_ns, int(inside[best]))


def _idle_before(start: Ints, end: Ints, moments: Ints) -> Ints:
    """How much of the spans, which are in order, lies before each moment."""
    whole = np.concatenate(([0], np.cumsum(end - start)))
    begun = np.searchsorted(start, moments)
    last = np.maximum(begun - 1, 0)
    beyond = np.where(begun > 0, np.maximum(end[last] - moments, 0), 0)
    return np.asarray(whole[begun] - beyond, np.int64)
