"""Lanes on which no two spans overlap unless one lies in the other, as trace viewers want them."""

from __future__ import annotations

import heapq

import numpy as np

from overlap_lab.columns import Ints

__all__ = ["lanes_of_nested", "lanes_of_spans"]


def lanes_of_spans(start: Ints, end: Ints) -> Ints:
    """The lane of each span, in order of start: the lowest one on which all before it have ended."""
    lane = np.zeros(start.size, np.int64)
    if not start.size or bool((start[1:] >= np.maximum.accumulate(end)[:-1]).all()):
        return lane
    busy: list[tuple[int, int]] = []  # (end, lane)
    free: list[int] = []
    opened = 0
    for at, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            mine = heapq.heappop(free)
        else:
            mine, opened = opened, opened + 1
        lane[at] = mine
        heapq.heappush(busy, (max(begins, ends), mine))
    return lane


def lanes_of_nested(start: Ints, end: Ints) -> Ints:
    """As `lanes_of_spans`, but one lane where all spans are within each other or apart."""
    open_ends: list[int] = []
    for begins, ends in zip(start.tolist(), end.tolist(), strict=True):
        while open_ends and open_ends[-1] <= begins:
            open_ends.pop()
        if open_ends and ends > open_ends[-1]:
            return lanes_of_spans(start, end)
        open_ends.append(max(begins, ends))
    return np.zeros(start.size, np.int64)
