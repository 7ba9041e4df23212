"""Questions about the ops of one scope: what was outstanding, what ended when."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from overlap_lab import native
from overlap_lab.columns import Ints, Mask, Rows, count_before, count_until, gather, order, rises
from overlap_lab.intervals import last_below

__all__ = ["LONG_AGO", "OpSet"]

LONG_AGO = np.iinfo(np.int64).min
"""An end before every time: the answer where no op qualifies."""


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """The ops of a set by their ends."""

    end: Ints
    enqueue: Ints
    op: Rows


@dataclass(frozen=True, slots=True, eq=False)
class OpSet:
    """Ops of one scope in two orders, so that every question is a binary search; that by end on demand."""

    enqueue: Ints
    """Enqueue starts, sorted."""
    reach: Ints
    """Latest end among the first i ops in that order; entry 0 is LONG_AGO."""
    index: Rows
    """The ops among all ops of the trace."""
    columns: tuple[Ints, Ints]
    """Enqueue start and end of the set's ops, in the order of `index`."""
    ends: list[_Ends] = field(default_factory=list)

    @classmethod
    def of(cls, index: Rows, enqueue: Ints, end: Ints) -> OpSet:
        """The set of the ops `index`; the arrays hold all ops of the trace."""
        whole = index.size == end.size
        mine, mine_end = (enqueue, end) if whole else (gather(enqueue, index), gather(end, index))
        reach = np.empty(index.size + 1, np.int64)
        reach[0] = LONG_AGO
        if rises(mine):
            np.maximum.accumulate(mine_end, out=reach[1:])
            return cls(mine, reach, index, (mine, mine_end))
        by_enqueue = order(mine)
        np.maximum.accumulate(gather(mine_end, by_enqueue), out=reach[1:])
        return cls(gather(mine, by_enqueue), reach, index, (mine, mine_end))

    @property
    def end(self) -> Ints:
        """Ends, sorted."""
        return self._by_end().end

    @property
    def end_enqueue(self) -> Ints:
        """Enqueue start of the op with each end."""
        return self._by_end().enqueue

    @property
    def by_end(self) -> Rows:
        """Index of the op with each end, among all ops of the trace."""
        return self._by_end().op

    def _by_end(self) -> _Ends:
        if not self.ends:
            enqueue, end = self.columns
            if native.in_order(end, enqueue):
                self.ends.append(_Ends(end, enqueue, self.index))
            else:
                by_end = order(end, enqueue)
                ends = _Ends(gather(end, by_end), gather(enqueue, by_end), gather(self.index, by_end))
                self.ends.append(ends)
        return self.ends[0]

    @property
    def outstanding(self) -> tuple[Ints, Ints]:
        """Stretches in which an op was enqueued and had not ended; at its two edges none is."""
        first = np.flatnonzero(self.reach[:-1] <= self.enqueue)
        last = np.append(first, self.enqueue.size)[1:]
        return self.enqueue[first], self.reach[last]

    def reach_before(self, time: Ints) -> Ints:
        """Latest end among the ops enqueued before each time; LONG_AGO where there is none."""
        return gather(self.reach, count_before(self.enqueue, time))

    def has_later(self, time: Ints) -> Mask:
        """Whether an op is enqueued at or after each time."""
        return np.asarray(count_before(self.enqueue, time) < self.enqueue.size)

    def last_end(self, enqueued_before: Ints, after: Ints, until: Ints) -> Ints:
        """Latest end in (after, until] among ops enqueued before each limit; LONG_AGO where none."""
        if after.size == 0 or self.enqueue.size == 0:
            return np.full(after.size, LONG_AGO, np.int64)
        low = count_until(self.end, after)
        high = count_until(self.end, until)
        at = last_below(self.end_enqueue, low, high, enqueued_before)
        return np.where(at >= low, gather(self.end, np.maximum(at, 0)), LONG_AGO)
