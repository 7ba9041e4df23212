"""Pure functions on half-open intervals [start, end) held in two int64 arrays.

A "set" here is a pair of equally long arrays that is sorted, disjoint, not touching and free of empty
intervals; `union` makes one from anything, and every function returns one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "Intervals",
    "Ints",
    "Mask",
    "clip",
    "covered_ns",
    "gaps",
    "intersect",
    "last_below",
    "length",
    "outermost",
    "spread",
    "subtract",
    "union",
]

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Intervals = tuple[Ints, Ints]


def union(start: Ints, end: Ints) -> Intervals:
    """Merge any intervals into a set; touching ones join, empty and inverted ones vanish."""
    keep = end > start
    start, end = start[keep], end[keep]
    if start.size == 0:
        return start, end
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reach = np.maximum.accumulate(end)
    first = np.r_[True, start[1:] > reach[:-1]]
    return start[first], reach[np.r_[first[1:], True]]


def length(intervals: Intervals) -> int:
    """Total length of a set."""
    start, end = intervals
    return int((end - start).sum())


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """The part of set `a` that set `b` does not cover."""
    a_start, a_end = a
    b_start, b_end = b
    if a_start.size == 0 or b_start.size == 0:
        return a
    lowest = min(int(a_start[0]), int(b_start[0])) - 1
    highest = max(int(a_end[-1]), int(b_end[-1])) + 1
    outside = (np.r_[np.int64(lowest), b_end], np.r_[b_start, np.int64(highest)])
    return intersect(a, outside)


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """The part that sets `a` and `b` share."""
    a_start, a_end = a
    b_start, b_end = b
    first = np.searchsorted(b_end, a_start, side="right")
    last = np.searchsorted(b_start, a_end, side="left")
    counts = np.maximum(last - first, 0)
    mine = np.repeat(np.arange(a_start.size), counts)
    offset = np.arange(mine.size) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = np.repeat(first, counts) + offset
    start = np.maximum(a_start[mine], b_start[theirs])
    end = np.minimum(a_end[mine], b_end[theirs])
    return union(start, end)


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
    owner = np.repeat(np.arange(first.size), counts)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.repeat(first, counts) + offset


def outermost(group: Ints, start: Ints, end: Ints) -> Ints:
    """For each interval the index of the outermost one of its group that encloses it, maybe itself.

    Intervals that overlap without nesting enclose nothing. Of equal intervals the first is the outer one. An
    empty interval at another's end is outside of it.
    """
    if start.size == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((-end, start, group))
    ranks = np.unique(end, return_inverse=True)[1].astype(np.int64)[order]
    dense = np.unique(group, return_inverse=True)[1].astype(np.int64)[order]
    reach = np.maximum.accumulate(dense * (end.size + 1) + ranks + 1)
    own = dense * (end.size + 1) + ranks + 1
    begin, finish = start[order], end[order]
    behind = (own[1:] == reach[:-1]) & (begin[1:] == finish[1:]) & (begin[:-1] < begin[1:])
    outer = np.r_[True, (own[1:] > reach[:-1]) | behind]
    holder = np.maximum.accumulate(np.where(outer, np.arange(order.size), 0))
    result = np.empty(order.size, np.int64)
    result[order] = order[holder]
    return result


def last_below(values: Ints, low: Ints, high: Ints, limit: Ints) -> Ints:
    """For each query the last index in [low, high) whose value is below its limit; low - 1 where none is.

    Nearly every answer is the last index itself, so that is tried first; the rest descends a sparse table.
    """
    high = np.maximum(high, low)
    answer = low - 1
    if values.size == 0:
        return answer
    open_range = high > low
    hit = open_range & (values[np.maximum(high - 1, 0)] < limit)
    answer = np.where(hit, high - 1, answer)
    rest = np.flatnonzero(open_range & ~hit)
    if rest.size == 0:
        return answer
    low, limit, position = low[rest], limit[rest], high[rest].copy()
    levels = _minima(values, int((position - low).max()))
    for level in range(len(levels) - 1, -1, -1):
        first = position - (1 << level)
        fits = first >= low
        minimum = levels[level][np.maximum(first, 0)]
        position = np.where(fits & (minimum >= limit), first, position)
    answer[rest] = np.where(position > low, position - 1, low - 1)
    return answer


def _minima(values: Ints, longest: int) -> list[Ints]:
    """Level k, entry i: minimum of values[i : i + 2**k]; the tail is padded, never asked for."""
    levels = [values]
    width = 1
    while width * 2 <= longest:
        previous = levels[-1]
        shifted = np.r_[previous[width:], previous[-1:].repeat(width)][: previous.size]
        levels.append(np.minimum(previous, shifted))
        width *= 2
    return levels
