"""Lanes on which no two spans overlap unless one lies in the other, as trace viewers want them."""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np

from overlap_lab.columns import Ints

__all__ = ["lanes_of_nested", "lanes_of_spans"]

_ANY_END: Final = 1 << 63
"""Later than every end."""


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
    open_ends: list[int] = []  # of what is open on the first lane, which takes nearly all; the innermost last
    further = _FurtherLanes()
    for at, (begins, ends) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if _fits(open_ends, begins, ends):
            open_ends.append(max(begins, ends))
        else:
            lane[at] = 1 + further.place(begins, ends)
    return lane


def _fits(open_ends: list[int], begins: int, ends: int) -> bool:
    """Whether a span lies within what is open on a lane when it begins; what has ended is closed."""
    while open_ends and open_ends[-1] <= begins:
        open_ends.pop()
    return not open_ends or ends <= open_ends[-1]


class _FurtherLanes:
    """Any number of lanes, of which the lowest with room for a span is found in few steps."""

    def __init__(self) -> None:
        self._open: list[list[int]] = [[]]
        """By lane the ends of what is open, the innermost last."""
        self._ending: list[tuple[int, int]] = []
        """A heap of all of these, (end, lane)."""
        self._until = [_ANY_END, _ANY_END]
        """A tree: from the middle on the end that a span on each lane may have, before it the later of 2."""

    def place(self, begins: int, ends: int) -> int:
        """Open a span, which begins no earlier than those before it, and say on which lane."""
        while self._ending and self._ending[0][0] <= begins:
            ended = heapq.heappop(self._ending)[1]
            self._open[ended].pop()
            self._tell(ended)
        lane = self._lowest(ends)
        self._open[lane].append(max(begins, ends))
        heapq.heappush(self._ending, (max(begins, ends), lane))
        self._tell(lane)
        return lane

    def _lowest(self, ends: int) -> int:
        if self._until[1] < ends:
            self._double()
        lanes, at = len(self._open), 1
        while at < lanes:
            at *= 2
            at += self._until[at] < ends
        return at - lanes

    def _tell(self, lane: int) -> None:
        """Bring the tree up to date about a lane."""
        open_ends, at = self._open[lane], lane + len(self._open)
        self._until[at] = open_ends[-1] if open_ends else _ANY_END
        while at > 1:
            at //= 2
            self._until[at] = max(self._until[2 * at], self._until[2 * at + 1])

    def _double(self) -> None:
        lanes = len(self._open)
        self._open += [[] for _ in range(lanes)]
        known = self._until[lanes:]
        self._until = [_ANY_END] * (4 * lanes)
        self._until[2 * lanes : 3 * lanes] = known
        for at in range(2 * lanes - 1, 0, -1):
            self._until[at] = max(self._until[2 * at], self._until[2 * at + 1])
