"""How much work was enqueued and unfinished: queue depth and queued work."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from overlap_lab import native
from overlap_lab.columns import (
    Ints,
    count_until,
    gather,
    in_order,
    order,
)
from overlap_lab.link import Link
from overlap_lab.metrics.ops import Lane, Ops
from overlap_lab.trace import Trace

__all__ = ["Queue", "entries_of", "queue_of", "running_total"]


@dataclass(frozen=True, slots=True, eq=False)
class Queue:
    """When entries of one device's queue came and went; a graph launch is one entry."""

    entered: Ints
    """Sorted times at which entries came: return of the enqueue call, or the start if that is earlier."""
    left: Ints
    """Sorted times at which entries ended."""
    ops: tuple[Ints, Ints, Ints]
    """When each op came, started and ended, in the lane's order; a graph's ops come one by one here."""
    end: Ints
    """Sorted ends of the ops."""
    works: list[tuple[Ints, Ints]] = field(default_factory=list)

    @property
    def start(self) -> Ints:
        """Sorted starts of the ops."""
        return in_order(self.ops[1])

    @property
    def work_entered(self) -> Ints:
        """Sorted times at which ops came."""
        return self._work()[0]

    def depth(self, time: Ints) -> Ints:
        """Entries in the queue at each time."""
        return np.asarray(count_until(self.entered, time) - count_until(self.left, time), np.int64)

    def queued_work(self, time: Ints) -> Ints:
        """Device time that was enqueued and had not yet run at each time."""
        entered, work = self._work()
        came = gather(work, count_until(entered, time))
        return came - self._elapsed(self.start, time) + self._elapsed(self.end, time)

    def _work(self) -> tuple[Ints, Ints]:
        """Sorted times at which ops came, and the device time of the first i of them."""
        if not self.works:
            came, start, end = self.ops
            by_came = order(came)
            self.works.append((gather(came, by_came), running_total(gather(end - start, by_came))))
        return self.works[0]

    def _elapsed(self, since: Ints, time: Ints) -> Ints:
        """Sum over all `since` before each time of the time gone by; integers wrap and unwrap harmlessly."""
        total = running_total(since)
        count = count_until(since, time)
        return np.asarray(count * time - gather(total, count), np.int64)


def entries_of(trace: Trace, ops: Ops, lane: Lane) -> tuple[Ints, Ints]:
    """`entered` and `left` of a device's queue, without the rest of it."""
    entered, left = native.queue_entries(trace, ops.lent(lane))
    return entered, lane.ops.end if left is None else left


def queue_of(trace: Trace, links: Link, ops: Ops, lane: Lane) -> Queue:
    """The queue of one device over the whole trace."""
    index = lane.index
    whole = index.size == ops.start.size
    start, end = (each if whole else gather(each, index) for each in (ops.start, ops.end))
    came = np.minimum(links.returns(index), start)
    entered, left = entries_of(trace, ops, lane)
    return Queue(entered, left, (came, start, end), lane.ops.end)


def running_total(values: Ints) -> Ints:
    """Sum of the first i values, from i = 0 on."""
    total = np.zeros(values.size + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return total
