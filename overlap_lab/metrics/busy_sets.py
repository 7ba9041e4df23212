"""Which of the sets that a call could depend on had an op outstanding when it began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from overlap_lab.columns import Ints, Mask, count_before, count_until, gather, order
from overlap_lab.errors import UsageError
from overlap_lab.intervals import spread
from overlap_lab.metrics.ops import grouped
from overlap_lab.metrics.opset import OpSet

__all__ = ["Entries", "busy_pairs"]

_FEW_SETS: Final = 8
"""So many are asked each: that is quicker than finding out which were busy."""
_MOST_PAIRS: Final = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The sets that each kind of calls could depend on, kind by kind."""

    lengths: Ints
    """How many, per kind."""
    set_id: Ints
    kept: Mask
    """Entries that are asked for in any case."""

    @property
    def begin(self) -> Ints:
        """The first entry of each kind."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)


def busy_pairs(kinds: Ints, start: Ints, entries: Entries, sets: tuple[OpSet, ...]) -> tuple[Ints, Ints]:
    """Pairs (call, entry of its kind), in order: all of them where a kind has few entries, else those that
    are kept and those of whose set an op was outstanding at the call's start.

    Raises UsageError where even these are too many to look at.
    """
    few = np.where(entries.lengths <= _FEW_SETS, entries.lengths, 0)
    call, at = spread(gather(entries.begin, kinds), gather(entries.begin + few, kinds))
    wide = np.flatnonzero(entries.lengths > _FEW_SETS)
    if not wide.size:
        return call, at
    found, size = [(call, at)], 0  # those of kinds with few sets grow with the trace alone
    for calls, entry in _outstanding(kinds, start, wide.tolist(), entries, sets):
        found.append((calls, np.full(calls.size, entry, np.int64)))
        size += calls.size
        if size > _MOST_PAIRS:
            raise UsageError(
                f"too many streams or devices are busy at once: its calls could have waited for over "
                f"{_MOST_PAIRS:,} of them, counted call by call; record a shorter stretch"
            )
    call, at = (np.concatenate(column) for column in zip(*found, strict=True))
    by_call = order(call, at)
    return gather(call, by_call), gather(at, by_call)


def _outstanding(
    kinds: Ints, start: Ints, wide: list[int], entries: Entries, sets: tuple[OpSet, ...]
) -> Iterator[tuple[Ints, int]]:
    """Per entry of some kinds the calls to pair it with."""
    members = {int(kinds[mine[0]]): mine for mine in grouped(kinds)}
    begin, lengths = entries.begin.tolist(), entries.lengths.tolist()
    for kind in wide:
        mine = members[kind]
        times = gather(start, mine)
        for entry in range(begin[kind], begin[kind] + lengths[kind]):
            if entries.kept[entry]:
                yield mine, entry
                continue
            opened, closed = sets[int(entries.set_id[entry])].outstanding
            calls = mine[spread(count_until(times, opened), count_before(times, closed))[1]]
            if calls.size:
                yield calls, entry
