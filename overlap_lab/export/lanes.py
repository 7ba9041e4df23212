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
    """The lane of each span, in order of start: the lowest one on which it lies within all that is open."""
    lane = np.zeros(start.size, np.int64)
    lanes: list[list[int]] = [[]]  # ends of what is open, the innermost last
    for at, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        number = 0
        while not _fits(lanes[number], begins, ends):
            number += 1
            if number == len(lanes):
                lanes.append([])
        lane[at] = number
        lanes[number].append(max(begins, ends))
    return lane


def _fits(open_ends: list[int], begins: int, ends: int) -> bool:
    """Whether a span lies within what is open on a lane when it begins; what has ended is closed."""
    while open_ends and open_ends[-1] <= begins:
        open_ends.pop()
    return not open_ends or ends <= open_ends[-1]
