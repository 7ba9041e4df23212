"""How much work was enqueued and unfinished: queue depth and queued work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlap_lab.intervals import Ints
from overlap_lab.link import Link
from overlap_lab.metrics.ops import Lane, Ops
from overlap_lab.schema import Api
from overlap_lab.trace import Trace

__all__ = ["Queue", "queue_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """When entries of one device's queue came and went; a graph launch is one entry."""

    entered: Ints
    """Sorted times at which entries came: return of the enqueue call, or the start if that is earlier."""
    left: Ints
    """Sorted times at which entries ended."""
    work_entered: Ints
    """Sorted times at which ops came; a graph's ops come one by one here."""
    work: Ints
    """Device time of the first i ops to come."""
    start: Ints
    end: Ints

    def depth(self, time: Ints) -> Ints:
        """Entries in the queue at each time."""
        came = np.searchsorted(self.entered, time, side="right")
        return np.asarray(came - np.searchsorted(self.left, time, side="right"), np.int64)

    def queued_work(self, time: Ints) -> Ints:
        """Device time that was enqueued and had not yet run at each time."""
        came = self.work[np.searchsorted(self.work_entered, time, side="right")]
        return came - self._elapsed(self.start, time) + self._elapsed(self.end, time)

    def _elapsed(self, since: Ints, time: Ints) -> Ints:
        """Sum over all `since` before each time of the time gone by; integers wrap and unwrap harmlessly."""
        total = np.r_[np.int64(0), np.cumsum(since)]
        count = np.searchsorted(since, time, side="right")
        return np.asarray(count * time - total[count], np.int64)


def queue_of(trace: Trace, links: Link, ops: Ops, lane: Lane) -> Queue:
    """The queue of one device over the whole trace."""
    index = lane.index
    start, end = ops.start[index], ops.end[index]
    came = np.minimum(ops.enqueue_end[index], start)
    call = links.call[index]
    graph = links.linked[index] & (trace.api[call] == Api.GRAPH_LAUNCH)
    entry = np.where(graph, call, -1 - np.arange(index.size))
    number = np.unique(entry, return_inverse=True)[1]
    size = int(number.max()) + 1
    entered, left = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
    np.minimum.at(entered, number, came)
    np.maximum.at(left, number, end)
    order = np.argsort(came, kind="stable")
    work = np.r_[np.int64(0), np.cumsum((end - start)[order])]
    return Queue(np.sort(entered), np.sort(left), came[order], work, np.sort(start), np.sort(end))
