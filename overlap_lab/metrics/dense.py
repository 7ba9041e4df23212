"""Where most of some idle time lies close together: what to look at where it is spread over many gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlap_lab.columns import Ints

__all__ = ["Spans", "Stretch", "densest_stretch", "no_spans"]

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
    """The stretch of this length that holds most of the spans, the first of several; None of no spans."""
    start, end = spans
    if not start.size:
        return None
    by_time = np.argsort(start, kind="stable")
    start, end = start[by_time], end[by_time]
    # The best one begins where a span begins, or ends where one ends: moved from anywhere else it gains.
    at = np.unique(np.concatenate((start, end - length_ns)))
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
