"""Which collective ops of different devices are one collective, and which of them started last.

A trace names no communicators. Ops of one name on one stream come in the order in which every member of their
communicator runs them, and all members are in a collective at once when it ends: so the n-th op of one stream
belongs to the n-th of another where as many ran there, and their ends agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from overlap_lab.columns import Ints, Mask, dense_codes, distinct, order

__all__ = ["Members", "ends_agree", "groups_of", "last_of_each"]

_NONE: Final = -1
_MOST_NAMES: Final = 10_000
"""Of more kernels than any program has no streams with another count of ops are matched."""
_MOST_LEADERS: Final = 64
"""So many groups of devices of which no two have as many ops of a name are found."""
_SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Collective ops: entry i of every array is op i."""

    name: Ints
    member: Ints
    """Who took part: small numbers of (file, process, device)."""
    stream: Ints
    """Small numbers of the streams of all members."""
    start: Ints
    end: Ints

    def where(self, chosen: Ints | slice) -> Members:
        columns = (self.name, self.member, self.stream, self.start, self.end)
        return Members(*(column[chosen] for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class _Lanes:
    """Ops of one name on one stream: lane i is at [first[i], first[i] + count[i]) of the ops in its order."""

    ops: Members
    of_op: Ints
    name: Ints
    member: Ints
    first: Ints
    count: Ints

    @property
    def place(self) -> Ints:
        """The place of each op in its lane."""
        return np.arange(self.of_op.size) - self.first[self.of_op]

    def part(self, begin: int, end: int) -> tuple[_Lanes, slice]:
        """Some lanes that follow each other by themselves, and where their ops are."""
        ops = slice(int(self.first[begin]), int(self.first[end - 1] + self.count[end - 1]))
        lanes = _Lanes(
            ops=self.ops.where(ops),
            of_op=self.of_op[ops] - begin,
            name=self.name[begin:end],
            member=self.member[begin:end],
            first=self.first[begin:end] - ops.start,
            count=self.count[begin:end],
        )
        return lanes, ops


def groups_of(ops: Members) -> Ints:
    """The number of the collective that each op took part in, -1 where no other op is known to have."""
    lanes, by_lane = _lanes_of(ops)
    group = _with_nearest_ends(lanes, _in_step(lanes))
    alone = (np.bincount(group[group >= 0], minlength=group.size + 1) == 1)[group]
    result = np.empty(group.size, np.int64)
    result[by_lane] = np.where(alone, _NONE, group)
    return result


def last_of_each(ops: Members, group: Ints) -> Ints:
    """Per op the one of its collective that started last; itself where it is in none."""
    by_start = order(group, ops.start, ops.member, descending=0b100)
    is_last = np.append(np.diff(group[by_start]) != 0, True)[: group.size]
    lasts = by_start[is_last]
    last = np.arange(group.size)
    inside = group >= 0
    last[inside] = lasts[np.searchsorted(group[lasts], group[inside])]
    return last


def ends_agree(one: Members, other: Members) -> Mask:
    """Per pair of ops whether their ends lie no further apart than the shorter of them lasted."""
    shorter = np.minimum(one.end - one.start, other.end - other.start)
    return np.asarray(np.abs(one.end - other.end) <= shorter)


def _lanes_of(ops: Members) -> tuple[_Lanes, Ints]:
    """The lanes, those that may belong together side by side, and the ops in their order."""
    lane = dense_codes(ops.name, ops.stream)
    count = np.bincount(lane)
    middle = np.bincount(lane, weights=(ops.end - ops.end.min()).astype(np.float64)) / count
    sample = np.empty(count.size, np.int64)
    sample[lane] = np.arange(lane.size)
    ordered = np.lexsort((middle, count, ops.name[sample]))
    rank = np.empty(count.size, np.int64)
    rank[ordered] = np.arange(count.size)
    by_lane = order(rank[lane], ops.start, ops.end)
    count, sample = count[ordered], sample[ordered]
    lanes = _Lanes(
        ops=ops.where(by_lane),
        of_op=rank[lane][by_lane],
        name=ops.name[sample],
        member=ops.member[sample],
        first=np.cumsum(count) - count,
        count=count,
    )
    return lanes, by_lane


def _in_step(lanes: _Lanes) -> Ints:
    """Groups of the n-th ops of lanes with as many ops of a name, most of whose ends agree."""
    ops, count = lanes.ops, lanes.count
    alike = np.zeros(count.size, np.bool_)
    alike[1:] = (lanes.name[1:] == lanes.name[:-1]) & (count[1:] == count[:-1])
    asked = np.flatnonzero(alike[lanes.of_op])
    agree = ends_agree(ops.where(asked), ops.where(asked - count[lanes.of_op[asked]]))
    agreeing = np.bincount(lanes.of_op[asked], weights=agree, minlength=count.size)
    cluster = np.cumsum(~(alike & (2 * agreeing >= count))) - 1
    size = np.bincount(cluster)
    members = np.bincount(cluster[distinct(cluster, lanes.member)], minlength=size.size)
    whole = (size > 1) & (members == size)
    leader = np.searchsorted(cluster, np.arange(size.size))
    group = lanes.first[leader][cluster[lanes.of_op]] + lanes.place
    return np.where(whole[cluster[lanes.of_op]], group, _NONE)


def _with_nearest_ends(lanes: _Lanes, group: Ints) -> Ints:
    """The groups with lanes that are in none, name by name."""
    group = group.copy()
    names = np.unique(lanes.name[_loose(lanes, group)])[:_MOST_NAMES]
    for begin, end in zip(*(np.searchsorted(lanes.name, names, side) for side in _SIDES), strict=True):
        part, ops = lanes.part(begin, end)
        mine = np.where(group[ops] >= 0, group[ops] - ops.start, _NONE)
        _join_loose(part, mine)
        group[ops] = np.where(mine >= 0, mine + ops.start, _NONE)
    return group


def _join_loose(lanes: _Lanes, group: Ints) -> None:
    """Put ops of lanes of one name that are in no group into those that there are, by their ends.

    The longest of the lanes that are left then is one group for each op, which others join; and so on.
    """
    known = np.flatnonzero(group >= 0)
    if known.size:
        _join(lanes, group, np.flatnonzero(np.isin(lanes.of_op, _loose(lanes, group))), known)
    for _ in range(_MOST_LEADERS):
        loose = _loose(lanes, group)
        if loose.size < 2:
            return
        leader = np.flatnonzero(lanes.of_op == loose[-1])  # lanes of a name are in order of their counts
        group[leader] = leader
        _join(lanes, group, np.flatnonzero(np.isin(lanes.of_op, loose[:-1])), leader)


def _loose(lanes: _Lanes, group: Ints) -> Ints:
    """The lanes of which no op is in a group."""
    return np.flatnonzero(np.bincount(lanes.of_op, weights=group >= 0, minlength=lanes.count.size) == 0)


def _join(lanes: _Lanes, group: Ints, free: Ints, known: Ints) -> None:
    """Put free ops into the groups of known ones."""
    ops = lanes.ops
    known = known[np.argsort(ops.end[known], kind="stable")]
    ends = ops.end[known]
    after = np.minimum(np.searchsorted(ends, ops.end[free]), known.size - 1)
    before = np.searchsorted(ends, ends[np.maximum(after - 1, 0)])  # of equal ends the first
    apart = np.abs(ends[np.stack((before, after))] - ops.end[free])
    nearest = known[np.where(apart[0] <= apart[1], before, after)]
    agree = ends_agree(ops.where(free), ops.where(nearest))
    free, nearest, apart = free[agree], nearest[agree], apart.min(axis=0)[agree]
    wanted = group[nearest]
    taken = np.stack((group[known], ops.member[known]))
    by_distance = np.lexsort((apart, ops.member[free], wanted))
    free, wanted = free[by_distance], wanted[by_distance]
    pairs = np.stack((wanted, ops.member[free]))
    first = np.ones(free.size, np.bool_)
    first[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    both = dense_codes(*np.concatenate((pairs, taken), axis=1))
    first &= ~np.isin(both[: free.size], both[free.size :])
    joined = np.bincount(lanes.of_op[free[first]], minlength=lanes.count.size)
    first &= 2 * joined[lanes.of_op[free]] >= lanes.count[lanes.of_op[free]]
    group[free[first]] = wanted[first]
