"""Lanes on which no two spans overlap unless one lies in the other, as trace viewers want them."""

from __future__ import annotations

import heapq

import numpy as np

from overlap_lab.columns import Ints
from overlap_lab.trace import Trace

__all__ = ["lanes_of_ops", "lanes_of_spans"]


def lanes_of_ops(trace: Trace, rows: Ints) -> Ints:
    """The lane of each row on its (device, stream), 0 for the first: the lowest one that is free."""
    lane = np.zeros(rows.size, np.int64)
    order = np.lexsort((trace.stream[rows], trace.device[rows]))
    device, stream = trace.device[rows][order], trace.stream[rows][order]
    edges = np.flatnonzero((device[1:] != device[:-1]) | (stream[1:] != stream[:-1])) + 1
    for mine in np.split(order, edges):
        lane[mine] = lanes_of_spans(trace.start_ns[rows[mine]], trace.end_ns[rows[mine]])
    return lane


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
