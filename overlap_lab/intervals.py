"""Pure functions on half-open intervals [start, end) held in two int64 arrays.

A "set" here is a pair of equally long arrays that is sorted, disjoint, not touching and free of empty
intervals; `union` makes one from anything, and every function returns one.
"""

from __future__ import annotations

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Numbers

__all__ = [
    "Intervals",
    "Ints",
    "Numbers",
    "clip",
    "covered_ns",
    "gaps",
    "intersect",
    "last_below",
    "length",
    "outermost",
    "shared_length",
    "spread",
    "subtract",
    "union",
]

Intervals = tuple[Ints, Ints]


def union(start: Ints, end: Ints) -> Intervals:
    """Merge any intervals into a set; touching ones join, empty and inverted ones vanish."""
    return native.union_of(start, end)


def length(intervals: Intervals) -> int:
    """Total length of a set."""
    start, end = intervals
    return int((end - start).sum())


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """The part of set `a` that set `b` does not cover."""
    return native.difference_of(*a, *b)


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """The part that sets `a` and `b` share."""
    return native.intersection_of(*a, *b)


def shared_length(a: Intervals, b: Intervals) -> int:
    """How much of sets `a` and `b` is the same."""
    return native.shared_length(*a, *b)


def gaps(intervals: Intervals) -> Intervals:
    """The holes between the intervals of a set; nothing before the first or after the last."""
    start, end = intervals
    return end[:-1], start[1:]


def covered_ns(intervals: Intervals, start: Ints, end: Ints) -> Ints:
    """For each [start, end): how many ns of it the set covers."""
    set_start, set_end = intervals
    if set_start.size == 0:
        return np.zeros(start.size, np.int64)
    done = np.r_[np.int64(0), np.cumsum(set_end - set_start)]

    def before(t: Ints) -> Ints:
        index = np.searchsorted(set_start, t, side="right")
        inside = np.where(index > 0, np.minimum(t, set_end[index - 1]) - set_start[index - 1], 0)
        return np.asarray(np.where(index > 0, done[index - 1], 0) + inside, np.int64)

    return np.asarray(np.maximum(before(end) - before(start), 0), np.int64)


def clip(start: Ints, end: Ints, window: tuple[int, int] | None) -> Intervals:
    """Each interval cut at the edges of the window; one that lies outside becomes empty. Keeps the length."""
    if window is None:
        return start, end
    first, last = window
    cut_start = np.clip(start, first, last)
    return cut_start, np.maximum(np.clip(end, first, last), cut_start)


def spread(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All (owner, index) pairs with first[owner] <= index < last[owner]."""
    counts = np.maximum(last - first, 0)
    if counts.size and int(counts.max()) == 1:
        owner = np.flatnonzero(counts)
        return owner, first[owner]
    owner = np.repeat(np.arange(first.size), counts)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.repeat(first, counts) + offset


def outermost(group: Numbers, start: Ints, end: Ints) -> Ints:
    """For each interval the index of the outermost one of its group that encloses it, maybe itself.

    Intervals that overlap without nesting enclose nothing. Of equal intervals the first is the outer one. An
    empty interval at another's end is outside of it.
    """
    return native.outermost(group, start, end)


def last_below(values: Ints, low: Ints, high: Ints, limit: Ints) -> Ints:
    """For each query the last index in [low, high) whose value is below its limit; low - 1 where none is."""
    return native.last_below(values, low, high, limit)
